import { BlockList, isIP } from 'node:net'

/** Chooses the proxy for an address. */
export interface ProxyRules {
  /** The URL of the proxy, which may hold credentials; undefined for a direct connection. */
  readonly proxyFor: (url: string) => string | undefined
  /** Mistakes in the variables, in words that show no credentials. */
  readonly problems: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in capitals or not, as curl and programs in Go do: `NO_PROXY` lists
 * names (with everything below them), `.names` (only what is below), addresses, networks in CIDR notation, each with a port
 * if only that is meant, or `*`. Requests to this machine never use a proxy.
 */
export function proxyRules(env: Environment): ProxyRules {
  const problems: string[] = []
  const proxyIn = (name: string): string | undefined => {
    const text = valueOf(env, name)
    if (text === undefined) return undefined
    const url = URL.parse(text.includes('://') ? text : `http://${text}`)
    if (url !== null && /^(?:https?|socks5?):$/.test(url.protocol) && url.hostname !== '') {
      return url.href
    }
    problems.push(
      `${name} is not the address of a proxy: write http://HOST:PORT, or remove the variable`,
    )
    return undefined
  }
  const proxies = { 'https:': proxyIn('HTTPS_PROXY'), 'http:': proxyIn('HTTP_PROXY') }
  const isDirect = exceptions(valueOf(env, 'NO_PROXY') ?? '')
  return {
    problems,
    proxyFor(url) {
      const { protocol, hostname, port } = new URL(url)
      if (protocol !== 'https:' && protocol !== 'http:') return undefined
      const proxy = proxies[protocol]
      if (proxy === undefined) return undefined
      const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
      return isDirect(host, port || (protocol === 'https:' ? '443' : '80')) ? undefined : proxy
    },
  }
}

function valueOf(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toLowerCase()] || undefined
}

/** True if an entry of NO_PROXY matches a host. */
type Exception = (host: string, port: string) => boolean

function exceptions(list: string): Exception {
  const entries = list.split(/[\s,]+/).filter((entry) => entry !== '')
  const all = [isThisMachine, ...entries.map((entry) => exceptionOf(entry.toLowerCase()))]
  return (host, port) => all.some((matches) => matches(host, port))
}

function exceptionOf(entry: string): Exception {
  if (entry === '*') return () => true
  const [, network = '', bits = ''] = /^([^/]+)\/(\d+)$/.exec(entry) ?? []
  if (isIP(network) !== 0) return inNetwork(network, Number(bits))
  const [, name = entry, only] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(entry) ?? []
  const wanted = name.replace(/^\[|\]$/g, '').replace(/^\*(?=\.)/, '')
  const matches = isIP(wanted) !== 0 ? inNetwork(wanted) : isBelow(wanted)
  return (host, port) => (only === undefined || only === port) && matches(host, port)
}

function isBelow(name: string): Exception {
  const below = name.startsWith('.') ? name : `.${name}`
  return (host) => host.toLowerCase() === name || host.toLowerCase().endsWith(below)
}

function inNetwork(network: string, bits?: number): Exception {
  const family = familyOf(network)
  const list = new BlockList()
  if (bits === undefined) list.addAddress(network, family)
  else if (bits <= (family === 'ipv4' ? 32 : 128)) list.addSubnet(network, bits, family)
  return (host) => isIP(host) !== 0 && list.check(host, familyOf(host))
}

const loopback = inNetwork('127.0.0.0', 8)

function isThisMachine(host: string, port: string): boolean {
  return host === 'localhost' || host === '::1' || loopback(host, port)
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
