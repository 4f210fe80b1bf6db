import * as z from 'zod'
import { Bounded } from '../../base/memory/memory.ts'
import { type Clock, eachLimited } from '../../base/pacing/pacing.ts'
import type { EgressAnswer } from '../egress/egress.ts'
import { expectStatus, FillError, parseJson } from './errors.ts'
import { bareVersion } from './listings.ts'
import type { UpstreamOptions } from './types.ts'

/** Dates are remembered while a long first list is asked for again because one request of many failed. */
const rememberMs = 3_600_000
const maxAtOnce = 4
/** A registry has no dates if it has none of so many versions: for one, its answer may be a mistake. */
const samples = 3

const Detail = z.object({ published_at: z.string().max(64).nullish() })

/** The versions of a provider as registry.terraform.io has them, in one answer. */
const ProviderVersions = z.object({
  included: z
    .array(
      z.object({
        type: z.string(),
        attributes: z.object({
          version: z.string().max(256),
          'published-at': z.string().max(64).nullish(),
        }),
      }),
    )
    .max(20_000),
})

interface Listed {
  readonly version: string
  /** The version as the registry spells it, if not so. */
  readonly ref?: string
}

interface AskedRegistry {
  ask(what: string, options: UpstreamOptions): Promise<EgressAnswer>
}

interface AskedVersions {
  /** Names the module or provider. */
  readonly identity: string
  readonly registry: AskedRegistry
  readonly versions: readonly Listed[]
}

/** Asks registries when versions were published, one request for each version. */
export class PublishedDates {
  readonly #clock: Clock
  /** Details of versions; undefined inside if the registry has none. */
  readonly #known: Bounded<{ readonly detail: z.infer<typeof Detail> | undefined }>

  constructor(clock: Clock) {
    this.#clock = clock
    this.#known = new Bounded({ maxEntries: 20_000, clock })
  }

  /**
   * @returns dates by version; empty if the registry does not tell any
   * @throws FillError if asking again may help
   */
  async of(
    { identity, registry, versions }: AskedVersions,
    options: UpstreamOptions,
  ): Promise<ReadonlyMap<string, string>> {
    const dates = new Map<string, string>()
    let isDated = false
    const ask = async ({ version, ref = version }: Listed): Promise<void> => {
      const key = `${identity} ${version}`
      const known = this.#known.get(key)
      const { detail } = known ?? {
        detail: detailIn(await registry.ask(encodeURIComponent(ref), options)),
      }
      this.#known.set(key, { detail }, this.#clock() + rememberMs)
      if (detail?.published_at) dates.set(version, detail.published_at)
      isDated ||= detail !== undefined
    }
    const wanted = versions.filter(({ version }) => options.datesOf?.(version) === true)
    // Many registries have no such answers.
    await eachLimited(wanted.slice(0, samples), maxAtOnce, ask)
    if (isDated) await eachLimited(wanted.slice(samples), maxAtOnce, ask)
    return dates
  }

  /** The same for a provider: registry.terraform.io tells all dates at once. */
  async ofProvider(
    { address, ...asked }: AskedVersions & { readonly address: string },
    options: UpstreamOptions,
  ): Promise<ReadonlyMap<string, string>> {
    const { registry, versions } = asked
    const { datesOf } = options
    if (datesOf === undefined || !versions.some(({ version }) => datesOf(version))) return new Map()
    const path = `/v2/providers/${address}?include=provider-versions`
    const all = read(await registry.ask(path, options), ProviderVersions)?.included ?? []
    if (all.length === 0) return this.of(asked, options)
    return new Map(
      all.flatMap(({ type, attributes: { version: text, 'published-at': date } }) => {
        const version = type === 'provider-versions' ? bareVersion(text) : undefined
        return version === undefined || !date ? [] : [[version, date] as const]
      }),
    )
  }
}

/** @throws FillError even if the registry, which listed the version to us, asks who we are */
const detailIn = (answer: EgressAnswer) =>
  read(answer.status === 401 ? expectStatus(answer, 200) : answer, Detail)

/** @returns undefined if the registry does not have such an answer @throws FillError if it failed */
function read<T>(answer: EgressAnswer, schema: z.ZodType<T>): T | undefined {
  if (answer.status >= 500) expectStatus(answer, 200)
  if (answer.status !== 200) return undefined
  try {
    return parseJson(answer, schema)
  } catch (error) {
    if (error instanceof FillError) return undefined
    throw error
  }
}
