/** Hop-by-hop headers (RFC 9110, section 7.6.1), and `expect`, which is answered already. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
])

/** This process sets them on every answer, because its log has no other ids. */
const ownHeaders = ['x-request-id', 'x-content-type-options']

/**
 * Headers that servers trust from a proxy: the origin of a request, its path, its user. From a client they are unchecked
 * claims. Underscores count as hyphens, because some servers read them that way.
 */
const claims =
  /^(?:forwarded|via|x-forwarded(?:-.*)?|x-(?:original|rewrite|remote|auth-request|authenticated|ssl|client|envoy|amzn-oidc|goog-authenticated|ms-client|webauth)-.*|x-(?:real|true-client|cluster-client)-ip|x-(?:user|username|email|groups|roles|http-method-override|method-override|http-method)|(?:true-client|cf-connecting|fastly-client)-ip|(?:remote|ssl|client)-.*)$/

export interface Hop {
  /** As the client wrote it. */
  readonly host: string
  readonly protocol: string
  readonly remoteAddress: string | undefined
  /** True if headers of a proxy in front are kept. */
  readonly trustProxy: boolean
  /** True if host and protocol are configured, so that nothing overrides them. */
  readonly isCertain: boolean
}

/** The headers of a request to the next server, as pairs of name and value. */
export function forwardedHeaders(headers: Headers, hop: Hop): [name: string, value: string][] {
  const dropped = new Set([...hopByHop, ...connectionOptions(headers.get('connection')), 'host'])
  const passed = [...headers].filter(([name]) => !dropped.has(name) && !isClaim(name))
  const own = forwardedBy(headers, hop)
  return [...passed, ...own].filter((pair): pair is [string, string] => pair[1] !== undefined)
}

function isClaim(name: string): boolean {
  return claims.test(name.replaceAll('_', '-'))
}

function forwardedBy(headers: Headers, hop: Hop): [string, string | undefined][] {
  const { isCertain, trustProxy } = hop
  const before = (name: string) => (trustProxy ? (headers.get(name) ?? undefined) : undefined)
  const addresses = [before('x-forwarded-for'), hop.remoteAddress].filter(Boolean)
  return [
    ['x-forwarded-for', addresses.join(', ') || undefined],
    ['x-forwarded-host', (isCertain ? undefined : before('x-forwarded-host')) ?? hop.host],
    ['x-forwarded-proto', (isCertain ? undefined : before('x-forwarded-proto')) ?? hop.protocol],
    ['forwarded', isCertain ? undefined : before('forwarded')],
  ]
}

/** The headers of an answer for the client. */
export function returnedHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Headers {
  const connection = headers['connection']
  const dropped = new Set([
    ...hopByHop,
    ...ownHeaders,
    ...connectionOptions([connection ?? []].flat().join(',')),
  ])
  const returned = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (dropped.has(name.toLowerCase())) continue
    for (const one of [value ?? []].flat()) returned.append(name, one)
  }
  return returned
}

/** The headers that `Connection` names. */
function connectionOptions(connection: string | null): string[] {
  return (connection ?? '').split(',').map((name) => name.trim().toLowerCase())
}
