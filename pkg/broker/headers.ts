/** RFC 9110, section 7.6.1: of one connection, not of the message. And `expect`, which was answered already. */
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

export interface Hop {
  /** As the client wrote it. */
  readonly host: string
  readonly protocol: string
  readonly remoteAddress: string | undefined
  /** Whether what a proxy before us said is kept. */
  readonly trustProxy: boolean
}

/** The headers of a request for the next server: pairs of name and value. */
export function forwardedHeaders(headers: Headers, hop: Hop): [name: string, value: string][] {
  const dropped = new Set([...hopByHop, ...connectionOptions(headers.get('connection')), 'host'])
  const own = forwardedBy(headers, hop)
  const passed = [...headers].filter(([name]) => !dropped.has(name) && !own.has(name))
  return [...passed, ...own].filter((pair): pair is [string, string] => pair[1] !== undefined)
}

function forwardedBy(headers: Headers, hop: Hop): Map<string, string | undefined> {
  const before = (name: string) => (hop.trustProxy ? (headers.get(name) ?? undefined) : undefined)
  const addresses = [before('x-forwarded-for'), hop.remoteAddress].filter(Boolean)
  return new Map([
    ['x-forwarded-for', addresses.join(', ') || undefined],
    ['x-forwarded-host', before('x-forwarded-host') ?? hop.host],
    ['x-forwarded-proto', before('x-forwarded-proto') ?? hop.protocol],
    ['forwarded', before('forwarded')],
  ])
}

/** The headers of an answer for the client. */
export function returnedHeaders(headers: Readonly<Record<string, string | string[]>>): Headers {
  const connection = headers['connection']
  const dropped = new Set([...hopByHop, ...connectionOptions([connection ?? []].flat().join(','))])
  const returned = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (dropped.has(name.toLowerCase())) continue
    for (const one of [value].flat()) returned.append(name, one)
  }
  return returned
}

/** The headers that a connection names as its own. */
function connectionOptions(connection: string | null): string[] {
  return (connection ?? '').split(',').map((name) => name.trim().toLowerCase())
}
