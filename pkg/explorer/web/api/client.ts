/* Requests to the explorer's own server, and errors of their answers. */

export interface Failure {
  /** HTTP status; undefined without a readable answer. */
  readonly status?: number
  readonly requestId?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  /** Whether the request timed out. */
  readonly isLate?: boolean
}

export class BrowseApiError extends Error implements Failure {
  override readonly name = 'ApiError'
  readonly status?: number
  readonly requestId?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly isLate: boolean

  constructor(message: string, failure: Failure = {}) {
    super(message)
    if (failure.status !== undefined) this.status = failure.status
    this.requestId = failure.requestId
    this.retryAfterSeconds = failure.retryAfterSeconds
    this.isLate = failure.isLate === true
  }
}

const deadlineMs = 30_000

/**
 * @param url below `/-/api`
 * @throws ApiError unless the answer is successful and JSON
 */
export async function getJson(url: string, signal?: AbortSignal): Promise<unknown> {
  const deadline = AbortSignal.timeout(deadlineMs)
  let response: Response
  let text: string
  try {
    response = await fetch(url, {
      headers: { Accept: 'application/json' },
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    })
    text = await response.text()
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new BrowseApiError(
      deadline.aborted
        ? `The registry did not answer within ${deadlineMs / 1000} seconds.`
        : 'The registry cannot be reached.',
      { isLate: deadline.aborted },
    )
  }
  return readAnswer(url, response, text)
}

function readAnswer(url: string, response: Response, text: string): unknown {
  const { status, headers } = response
  const failure: Failure = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfter(headers),
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    if (response.ok) throw new BrowseApiError('The answer is not JSON, or it was cut off.', failure)
  }
  if (!response.ok) throw new BrowseApiError(messageOf(status, body), failure)
  if (!hasShape(url, body))
    throw new BrowseApiError('The answer is not what this page expects.', failure)
  return body
}

/** The message of an error answer, or a default. */
export function messageOf(status: number, body: unknown): string {
  const errors = (body as { errors?: unknown } | null | undefined)?.errors
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  return typeof first === 'string' && first !== '' ? first : `The registry answered ${status}.`
}

/** Seconds, 1 to 60; undefined if the server names no time. */
function retryAfter(headers: Headers): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), 60) : undefined
}

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
