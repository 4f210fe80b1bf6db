import { rootCertificates } from 'node:tls'
import { LRUCache } from 'lru-cache'
import {
  createPool,
  type Pool,
  type ProxyRules,
  type ResolvedAddress,
  type Trust,
} from '../../base/http/http.ts'
import type { HostAccess } from './hosts.ts'

interface Opened {
  readonly pool: Pool
  readonly trust: Trust | undefined
}

const maxPools = 64

/**
 * Pools of connections, separate for each access and set of authorities: a connection to a private host, or trusted by a
 * tenant's authority, is never used for other requests.
 */
export class Pools {
  readonly #ca: string | undefined
  readonly #proxies: ProxyRules
  readonly #approved: (hostname: string, access: HostAccess) => Promise<readonly ResolvedAddress[]>
  readonly #pools = new LRUCache<string, Opened>({
    max: maxPools,
    dispose: ({ pool }) => void pool.close(),
  })

  constructor(
    ca: string | undefined,
    proxies: ProxyRules,
    approved: (hostname: string, access: HostAccess) => Promise<readonly ResolvedAddress[]>,
  ) {
    this.#ca = ca
    this.#proxies = proxies
    this.#approved = approved
  }

  for(access: HostAccess, ca: string | undefined): Opened {
    const key = `${access} ${ca ?? ''}`
    const opened = this.#pools.get(key) ?? this.#open(access, ca)
    this.#pools.set(key, opened)
    return opened
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#pools.values(), ({ pool }) => pool.close()))
  }

  #open(access: HostAccess, ca: string | undefined): Opened {
    const extra = [this.#ca, ca].filter((pem) => pem !== undefined)
    const pool = createPool({
      connections: 8,
      connectMs: 10_000,
      headersMs: 60_000,
      idleMs: 60_000,
      proxies: this.#proxies,
      addresses: (hostname) => this.#approved(hostname, access),
    })
    return { pool, trust: extra.length === 0 ? undefined : { ca: [...rootCertificates, ...extra] } }
  }
}
