import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { plainText } from '../../pkg/archives/docs/docs.ts'
import { jsonOf, type Reason, ReasonError, unavailable } from '../../pkg/base/errors/errors.ts'
import { statusLine } from '../../pkg/base/run/run.ts'
import { addressText, type PublishAddress } from '../../pkg/fill/publishing/publishing.ts'
import type { Registry } from '../registry/registry.ts'
import type { PublishEnd } from './report.ts'

/** A local file to send. */
export interface SentFile {
  readonly path: string
  readonly sizeBytes: number
  readonly sha256: string
}

/** Answer of a registry. */
export interface Answered {
  readonly status: number
  readonly body: unknown
}

interface Place {
  readonly host: string
  readonly address: PublishAddress
  readonly version: string
  /** Aborted when the person wants to stop. */
  readonly signal: AbortSignal
}

interface Ended {
  /** Whether to return before the registry serves the version. */
  readonly noWait: boolean
}

/** Enough for a large archive on a slow line. */
const sendMs = 2 * 3_600_000
/** Enough for the registry to check and store a release before it answers. */
const answerMs = 600_000
const servedMs = 60_000
const lookAgainMs = 1000
/** How long to send again while the registry is busy. */
const busyMs = 60_000

const Published = z.object({
  outcome: z.enum(['published', 'exists']),
  newModule: z.boolean().optional(),
  unserved: z.object({ message: z.string() }).optional(),
})
const Refused = z.object({
  errors: z.array(z.string()).min(1),
  missing: z.array(z.string()).optional(),
  refusals: z.array(z.object({ reason: z.string() })).optional(),
})
/** Errors of the cluster, such as an exceeded quota, after which a part of the release may exist. */
const ofCluster: ReadonlySet<string> = new Set<Reason>(['Forbidden', 'Invalid', 'AlreadyExists'])
const Versions = z.object({ version: z.string(), platforms: z.array(z.unknown()).optional() })
const ModuleList = z.object({ modules: z.array(z.object({ versions: z.array(Versions) })) })
const ProviderList = z.object({ versions: z.array(Versions) })

/** A version in a registry that files are sent to. */
export class Destination {
  readonly #registry: Registry
  readonly #place: Place
  readonly #line = statusLine(process.stderr)

  constructor(registry: Registry, place: Place) {
    this.#registry = registry
    this.#place = place
  }

  get path(): string {
    return addressText(this.#place.address)
  }

  /** The versions that the registry serves, or why it shows this caller none. */
  async versions(): Promise<readonly z.infer<typeof Versions>[] | string> {
    const { status, versions } = await this.#list()
    if (isForbidden(status)) return 'you may not read it'
    if (status === 404) return 'it is new, or you may not read it'
    return versions ?? `the registry answered ${status}`
  }

  async #list() {
    const { status, body } = await this.#ask(`${this.path}/versions`)
    if (status !== 200) return { status }
    const versions = this.#isModule
      ? ModuleList.safeParse(body).data?.modules.flatMap((module) => module.versions)
      : ProviderList.safeParse(body).data?.versions
    return { status, versions }
  }

  /** @param rest of the path, after the version */
  put(file: SentFile, rest = '', query = ''): Promise<Answered> {
    const { path, sizeBytes, sha256 } = file
    const headers = {
      'content-type': 'application/octet-stream',
      'content-length': String(sizeBytes),
      'x-depot-sha256': sha256,
    }
    return this.#publish(rest, query, () => {
      const body = Readable.from(this.#watched(path, sizeBytes), { objectMode: false })
      return { method: 'PUT', headers, body, deadlineMs: sendMs }
    })
  }

  /** @param files digests by name */
  finish(files: Readonly<Record<string, string>>, query: string): Promise<Answered> {
    const body = JSON.stringify({ files })
    return this.#publish('/finish', query, () => ({ method: 'POST', body, deadlineMs: answerMs }))
  }

  /**
   * Waits until the version is served.
   *
   * @param platforms how many a provider needs
   * @throws RegistryError Unavailable if it is not served in time, or if a retry may succeed
   */
  async end(answered: Answered, { noWait }: Ended, platforms = 0): Promise<PublishEnd> {
    const { host } = this.#place
    this.#line.clear()
    const { data } = Published.safeParse(answered.body)
    if (answered.status >= 300 || data === undefined) return this.#refused(answered)
    const { outcome, unserved } = data
    const was = outcome === 'exists' ? 'it was published already' : 'it is published'
    if (unserved !== undefined) {
      return { outcome, text: `${was}\n${host} does not serve it yet: ${unserved.message}` }
    }
    if (answered.status === 202 && noWait) {
      return { outcome, text: `${was}\n${host} serves it in a moment` }
    }
    const isShown = answered.status !== 202 || (await this.#untilServed(platforms, data))
    const seen = isShown
      ? `${host} serves it`
      : `${host} does not show it to you, because you may not read it, or because it is not served yet: have a GroupBinding list it in ${this.#isModule ? 'moduleResources' : 'providerResources'} to see it`
    return { outcome, text: `${was}\n${seen}` }
  }

  get #isModule(): boolean {
    return this.#place.address.system !== undefined
  }

  /** @returns false if the caller may not see that */
  async #untilServed(
    platforms: number,
    { newModule = false }: z.infer<typeof Published>,
  ): Promise<boolean> {
    const { host, version, signal } = this.#place
    const untilMs = performance.now() + servedMs
    while (performance.now() < untilMs) {
      this.#line.draw(`waiting until ${host} serves it`)
      const { status, versions } = await this.#list()
      this.#line.clear()
      // The registry hides what a caller may not read, and a new module until the registry has read it.
      if (isForbidden(status) || (status === 404 && !newModule)) return false
      const found = versions?.find((one) => one.version === version)
      if (found !== undefined && (found.platforms?.length ?? 0) >= platforms) return true
      await sleep(lookAgainMs, undefined, { signal })
    }
    throw unavailable(`${host} has stored the version and does not serve it yet`)
  }

  #refused({ status, body }: Answered): PublishEnd {
    const { host } = this.#place
    const said = Refused.safeParse(body).data
    const tooLarge = status === 413 ? '; ask for a higher limit of the body size' : ''
    const foreign = `${host} answered ${status}, but not as Depot does: a proxy in front of it may have${tooLarge}`
    const { errors } = said ?? { errors: [foreign] }
    if (status >= 500 || (status < 300 && said === undefined)) throw unavailable(errors.join('; '))
    for (const error of errors) process.stderr.write(plainText(`depot: ${error}\n`))
    if (status === 401) process.stderr.write(`depot: ${this.#registry.remedyFor(host)}\n`)
    const isHalf = said?.refusals?.some(({ reason }) => ofCluster.has(reason)) ?? false
    const text =
      isHalf && !this.#isModule
        ? 'refused: new platforms are not served until all of them are published; run the same command again when the cluster accepts them'
        : 'refused: nothing was published'
    return { outcome: 'refused', text }
  }

  /** Sends the token only to the registry's own host, whatever its discovery document says. */
  #publish(rest: string, query: string, request: () => Parameters<Registry['ask']>[3]) {
    const kind = this.#isModule ? 'modules' : 'providers'
    const { version } = this.#place
    const path = `../../publish/v1/${kind}/${this.path}/${encodeURIComponent(version)}${rest}`
    return this.#ask(query === '' ? path : `${path}?${query}`, request)
  }

  /** Repeats the request while the registry is busy. @param request makes the body of each attempt */
  async #ask(path: string, request?: () => Parameters<Registry['ask']>[3]): Promise<Answered> {
    const { host, signal } = this.#place
    const service = this.#isModule ? 'modules.v1' : 'providers.v1'
    const untilMs = performance.now() + busyMs
    for (;;) {
      try {
        const options = { ...request?.(), headersMs: answerMs, signal }
        const { status, body } = await this.#registry.ask(host, service, path, options)
        return { status, body: jsonOf(body.toString()) }
      } catch (error) {
        const isBusy = error instanceof ReasonError && error.reason === 'RateLimited'
        const againMs = isBusy ? error.retryAfterMs : undefined
        if (againMs === undefined || performance.now() + againMs > untilMs) throw error
        this.#line.draw(`waiting, because ${host} is busy`)
        await sleep(againMs + 100, undefined, { signal })
        this.#line.clear()
      }
    }
  }

  /** Reads a file, and shows the progress. */
  async *#watched(path: string, sizeBytes: number): AsyncGenerator<Buffer> {
    let sent = 0
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      yield chunk as Buffer
      sent += (chunk as Buffer).length
      const percent = Math.floor((100 * sent) / sizeBytes)
      this.#line.draw(`${basename(path)}: ${percent} % of ${(sizeBytes / 1_000_000).toFixed(1)} MB`)
    }
  }
}

const isForbidden = (status: number): boolean => status === 401 || status === 403

/** The files that the registry lacks; undefined if the answer is about something else. */
export const missingFiles = ({ status, body }: Answered): readonly string[] | undefined =>
  status === 409 ? Refused.safeParse(body).data?.missing : undefined
