/*
 * The fields that the pages rely on. An answer without them is reported as an error instead of being rendered as nonsense.
 * Mistakes inside of a field are errors of the region that renders it.
 */

const page = ['items', 'totalCount', 'page', 'pageSize']

const shapes: readonly (readonly [path: RegExp, fields: readonly string[]])[] = [
  [/^\/-\/api\/resources$/, page],
  [/^\/-\/api\/resources\/[^/]+\/[^/]+\/[^/]+$/, ['namespace', 'kind', 'name', 'versions']],
  [/\/pages\/[^/]+\/[^/]+$/, ['version', 'title', 'markdown']],
  [/\/pages$/, ['version', 'leftOut', 'pages']],
  [/\/downloads$/, ['from', 'stepSeconds', 'total', 'counts']],
  [/\/docs$/, ['version', 'root']],
  [/\/compare$/, ['from', 'to', 'verdict', 'readme', 'changes']],
  [/\/consumers$/, [...page, 'consumers', 'onLatest', 'troubled']],
  [/\/versions$/, page],
  [/^\/-\/api\/(?:search|namespaces|publish-rights)$/, ['items']],
  [/^\/-\/api\/depots\/graph$/, ['depots', 'modules', 'providers', 'edges', 'summary']],
  [
    /^\/-\/api\/stats$/,
    ['totalModules', 'syncHealth', 'securityPosture', 'storageDistribution', 'mostDownloaded'],
  ],
  [/^\/-\/api\/conflicts$/, [...page, 'counts']],
  [/^\/-\/api\/held-back$/, [...page, 'depots']],
  [/^\/-\/api\/explain$/, ['claims']],
  [/^\/-\/api\/whoami$/, ['groups', 'access']],
]

/** @param url below `/-/api`. Without a known shape, any object is accepted. */
export function hasShape(url: string, body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  const [path = ''] = url.split('?')
  const fields = shapes.find(([pattern]) => pattern.test(path))?.[1] ?? []
  return fields.every((field) => Object.hasOwn(body, field))
}
