/* The fields that the pages rely on: an answer without them is reported as an error instead of being drawn as nonsense. */

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const has =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(fields).every(([name, check]) => check((value as Record<string, unknown>)[name]))

const page = { totalCount: isNumber, page: isNumber, pageSize: isNumber }
const card = { namespace: isText, kind: isText, name: isText, totalDownloads: isNumber }
const node = has({ id: isText, namespace: isText, name: isText })

const shapes: readonly (readonly [path: RegExp, check: Check])[] = [
  [/^\/-\/api\/resources$/, has({ ...page, items: listOf(has(card)) })],
  [
    /^\/-\/api\/resources\/[^/]+\/[^/]+\/[^/]+$/,
    has({ ...card, versions: listOf(has({ version: isText })) }),
  ],
  [/\/pages\/[^/]+\/[^/]+$/, has({ version: isText, title: isText, markdown: isText })],
  [
    /\/pages$/,
    has({
      version: isText,
      leftOut: isNumber,
      pages: listOf(has({ category: isText, slug: isText, title: isText, path: isText })),
    }),
  ],
  [
    /\/downloads$/,
    has({ from: isText, stepSeconds: isNumber, total: isNumber, counts: listOf(isNumber) }),
  ],
  [
    /\/docs$/,
    has({
      version: isText,
      root: has({
        inputs: listOf(has({ name: isText })),
        outputs: listOf(has({ name: isText })),
        providers: listOf(has({ name: isText })),
        resources: listOf(has({ type: isText })),
        modules: listOf(has({ name: isText })),
      }),
    }),
  ],
  [
    /\/compare$/,
    has({
      from: isText,
      to: isText,
      verdict: isText,
      readme: isText,
      changes: listOf(
        has({ kind: isText, path: isText, name: isText, verdict: isText, why: isText }),
      ),
    }),
  ],
  [
    /\/consumers$/,
    has({
      ...page,
      consumers: isNumber,
      onLatest: isNumber,
      troubled: isNumber,
      items: listOf(
        has({
          consumer: isText,
          lastUsed: isText,
          behind: isNumber,
          versions: listOf(has({ version: isText, lastUsed: isText, days: isNumber })),
        }),
      ),
    }),
  ],
  [/\/versions$/, has({ ...page, items: listOf(has({ version: isText })) })],
  [
    /^\/-\/api\/search$/,
    has({ items: listOf(has({ ...card, matched: listOf(has({ field: isText, text: isText })) })) }),
  ],
  [/^\/-\/api\/namespaces$/, has({ items: listOf(has({ name: isText })) })],
  [
    /^\/-\/api\/depots\/graph$/,
    has({
      depots: listOf(node),
      modules: listOf(node),
      providers: listOf(node),
      edges: listOf(has({ source: isText, target: isText })),
      summary: has({ totalDepots: isNumber }),
    }),
  ],
  [
    /^\/-\/api\/stats$/,
    has({
      totalModules: isNumber,
      totalVersions: isNumber,
      syncHealth: has({ syncedVersions: isNumber }),
      securityPosture: has({ critical: isNumber }),
      storageDistribution: listOf(has({ count: isNumber })),
      mostDownloaded: listOf(has({ name: isText, downloadCount: isNumber })),
    }),
  ],
  [
    /^\/-\/api\/conflicts$/,
    has({
      ...page,
      items: listOf(has({ reason: isText, message: isText, namespace: isText, name: isText })),
      counts: listOf(has({ reason: isText, count: isNumber })),
    }),
  ],
  [
    /^\/-\/api\/held-back$/,
    has({
      ...page,
      items: listOf(has({ why: isText, message: isText, version: isText, askedFor: isNumber })),
      depots: listOf(isText),
    }),
  ],
  [
    /^\/-\/api\/publish-rights$/,
    has({
      items: listOf(has({ namespace: isText, modules: listOf(isText), providers: listOf(isText) })),
    }),
  ],
  [/^\/-\/api\/explain$/, has({ claims: listOf(has({ kind: isText, name: isText })) })],
  [/^\/-\/api\/whoami$/, has({ groups: listOf(isText), access: isText })],
]

/** @param url below `/-/api`. Without a known shape any object is accepted. */
export function hasShape(url: string, body: unknown): boolean {
  const [path = ''] = url.split('?')
  const check = shapes.find(([pattern]) => pattern.test(path))?.[1]
  return check === undefined ? typeof body === 'object' && body !== null : check(body)
}
