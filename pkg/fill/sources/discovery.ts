import { hash } from 'node:crypto'
import * as z from 'zod'
import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import { SourceError } from './errors.ts'
import type { ListOptions } from './module-source.ts'
import type { Upstream } from './upstream.ts'

export type Service = 'modules.v1' | 'providers.v1'

const Services = z.object({
  'modules.v1': z.string().max(2048).optional(),
  'providers.v1': z.string().max(2048).optional(),
})

interface Known {
  readonly services: z.infer<typeof Services>
  readonly base: string
  readonly atMs: number
}

const freshMs = 3_600_000

/**
 * Where a registry has its services.
 *
 * @see https://developer.hashicorp.com/terraform/internals/remote-service-discovery
 */
export class Discovery {
  readonly #upstream: Upstream
  readonly #clock: Clock
  readonly #known = new Bounded<Known>({ maxEntries: 1000 })

  constructor(upstream: Upstream, clock: Clock) {
    this.#upstream = upstream
    this.#clock = clock
  }

  /**
   * Known for an hour, and longer where the registry is away.
   *
   * @param ca authorities to believe besides the usual ones, PEM; what was believed for one caller is not for another
   * @returns a URL that ends in `/`
   * @throws SourceError
   */
  async find(
    host: string,
    service: Service,
    ca: string | undefined,
    options: ListOptions,
  ): Promise<string> {
    const { services, base } = await this.#services(host, ca, options)
    const place = services[service]
    const url = place === undefined ? null : URL.parse(place, base)
    if (url === null || url.search !== '') {
      throw new SourceError('FetchFailed', `the host ${host} has no service ${service}`)
    }
    return url.href.endsWith('/') ? url.href : `${url.href}/`
  }

  async #services(
    host: string,
    ca: string | undefined,
    { signal, urgent }: ListOptions,
  ): Promise<Known> {
    const key = ca === undefined ? host : `${host} ${hash('sha256', ca)}`
    const known = this.#known.get(key)
    if (known !== undefined && this.#clock() - known.atMs < freshMs) return known
    const base = `https://${host}/.well-known/terraform.json`
    try {
      const services = await this.#upstream.json(base, Services, { ca, signal, urgent })
      const found = { services, base, atMs: this.#clock() }
      this.#known.set(key, found)
      return found
    } catch (error) {
      if (known !== undefined && !signal.aborted) return known
      throw error
    }
  }
}
