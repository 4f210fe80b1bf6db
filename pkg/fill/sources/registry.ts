import { hash } from 'node:crypto'
import * as z from 'zod'
import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { EgressAnswer, EgressRequest } from '../egress/egress.ts'
import { etagOf, expectStatus, FillError, parseJson } from './errors.ts'
import type { ListingCache } from './listings.ts'
import type { PublishedDates } from './published.ts'
import type { SourceAccess } from './secrets.ts'
import type { UpstreamOptions } from './types.ts'
import type { UpstreamClient } from './upstream.ts'

export type RegistryService = 'modules.v1' | 'providers.v1'

const Services = z.object({
  'modules.v1': z.string().max(2048).optional(),
  'providers.v1': z.string().max(2048).optional(),
})

/** The services of a host that is not asked for them: a person has configured their URLs. */
export type ServicesOf = (host: string) => z.infer<typeof Services> | undefined

interface Known {
  readonly services: z.infer<typeof Services>
  readonly base: string
  readonly atMs: number
}

const freshMs = 3_600_000
/** The same if a person waits: a damaged answer must not outlast it. Many requests need it at once. */
const freshUrgentlyMs = 60_000

/**
 * Finds the services of a registry.
 *
 * @see https://developer.hashicorp.com/terraform/internals/remote-service-discovery
 */
export class ServiceDiscovery {
  readonly #upstream: UpstreamClient
  readonly #clock: Clock
  readonly #servicesOf: ServicesOf
  readonly #known = new Bounded<Known>({ maxEntries: 1000 })

  constructor(upstream: UpstreamClient, clock: Clock, servicesOf: ServicesOf = () => undefined) {
    this.#upstream = upstream
    this.#clock = clock
    this.#servicesOf = servicesOf
  }

  /**
   * Keeps an answer for an hour, and longer while the registry is unreachable.
   *
   * @param ca additional authorities, PEM; answers are not shared between callers that trust different ones
   * @returns a URL that ends in `/`, and whether the credential for the host may be sent to it
   * @throws FillError
   */
  async find(
    host: string,
    service: RegistryService,
    ca: string | undefined,
    options: UpstreamOptions,
  ): Promise<{ readonly service: string; readonly isOwn: boolean }> {
    const configured = this.#servicesOf(host)
    const { services, base } = configured
      ? { services: configured, base: undefined }
      : await this.#services(host, ca, options)
    const place = services[service]
    const url = place === undefined ? null : URL.parse(place, base)
    if (url === null || url.search !== '') {
      throw new FillError('FetchFailed', `the host ${host} has no service ${service}`)
    }
    return {
      service: url.href.endsWith('/') ? url.href : `${url.href}/`,
      isOwn: configured !== undefined || url.host === new URL(`https://${host}`).host,
    }
  }

  async #services(
    host: string,
    ca: string | undefined,
    { signal, urgent }: UpstreamOptions,
  ): Promise<Known> {
    const key = ca === undefined ? host : `${host} ${hash('sha256', ca)}`
    const known = this.#known.get(key)
    const maxAgeMs = urgent === true ? freshUrgentlyMs : freshMs
    if (known !== undefined && this.#clock() - known.atMs < maxAgeMs) return known
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

export interface UpstreamRegistryOptions {
  readonly upstream: UpstreamClient
  readonly cache: ListingCache
  readonly discovery: ServiceDiscovery
  readonly published: PublishedDates
  readonly host: string
  /** Sent to the registry, never to a place that the registry names. */
  readonly access: () => Promise<SourceAccess>
}

/** The part of a registry's protocol that modules and providers share. */
export class RegistryClient {
  readonly #options: UpstreamRegistryOptions
  readonly #service: RegistryService
  /** `namespace/name/system` or `namespace/type`. */
  readonly #address: string

  constructor(options: UpstreamRegistryOptions, service: RegistryService, address: string) {
    this.#options = options
    this.#service = service
    this.#address = address
  }

  /** Reads the list of versions, with a conditional request if a former one is known. @throws FillError */
  async versions<T>(
    identity: string,
    schema: z.ZodType<T>,
    options: UpstreamOptions,
  ): Promise<{ readonly value: T; readonly unchanged: boolean }> {
    const access = await this.#options.access()
    const key = `${identity} ${access.credential?.id ?? ''}`
    const kept = z.object({ etag: z.string().optional(), listed: schema })
    const { value, unchanged } = await this.#options.cache.get(
      key,
      kept,
      options,
      async (former) => {
        const headers = former?.etag === undefined ? {} : { 'if-none-match': former.etag }
        const answer = await this.#send('versions', access, options, { headers })
        if (answer.status === 304 && former !== undefined) return { value: former, unchanged: true }
        const listed = parseJson(expectStatus(answer, 200), schema)
        return { value: { listed, ...etagOf(answer) }, unchanged: false }
      },
    )
    return { value: value.listed, unchanged }
  }

  /** @param what after the address; empty: the module or provider itself; or a path of the host @throws FillError */
  async ask(what: string, options: UpstreamOptions): Promise<EgressAnswer> {
    return this.#send(what, await this.#options.access(), options)
  }

  async #send(
    what: string,
    { ca, credential }: SourceAccess,
    options: UpstreamOptions,
    request: Pick<EgressRequest, 'headers'> = {},
  ): Promise<EgressAnswer> {
    const { upstream, discovery, host } = this.#options
    const { service, isOwn } = await discovery.find(host, this.#service, ca, options)
    const { signal, urgent } = options
    const path = what === '' ? this.#address : `${this.#address}/${what}`
    const url = what.startsWith('/') ? new URL(what, service).href : `${service}${path}`
    return upstream.ask(url, {
      ...request,
      signal,
      urgent,
      ca,
      ...(isOwn && { credential }),
    })
  }
}
