import { readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { rootCertificates } from 'node:tls'
import * as z from 'zod'
import type { Spool, SpoolFile } from '../../archives/spool/spool.ts'
import { isTimeout } from '../../base/http/http.ts'
import { shownUrl, writeBody } from '../egress/egress.ts'
import { archiveTooLarge, FillError } from './errors.ts'
import { runGit } from './git-process.ts'
import { commitOf, type ListingCache, resolveFromList, type Tag, versionsOf } from './listings.ts'
import type { SourceAccess } from './secrets.ts'
import type { FetchedFile, FetchOptions, ModuleUpstream, UpstreamOptions } from './types.ts'
import type { UpstreamClient } from './upstream.ts'

/** A repository, and the access to it. */
interface GitRepository {
  /** https, without credentials. */
  readonly url: string
  readonly access?: SourceAccess | undefined
  readonly namedByUpstream?: boolean
}

interface GitRef extends GitRepository {
  /** A tag, a branch, a full commit, or HEAD. */
  readonly ref: string
  /** The commit that the ref must point to. */
  readonly commit?: string | undefined
}

/** A bare repository on the disk that one ref is fetched into. */
interface Clone {
  readonly path: string
  readonly signal: AbortSignal
  /** Bounds of its packs. */
  readonly limits: FetchOptions['limits']
}

type Config = Readonly<Record<string, string>>

/** How much larger than its packs the tar of a repository may be; normalising applies the exact limit. */
const tarRatio = 5
const listMs = 60_000
const fetchMs = 30 * 60_000
const maxListBytes = 16 * 1024 * 1024
const maxOutputBytes = 1024 * 1024
const fetchedRef = 'refs/depot/fetched'

/** Runs the git program within limits of time and size. */
export class Git {
  readonly #upstream: UpstreamClient
  readonly #spool: Spool
  readonly #command: string

  /** @param command the program. Default: git, on PATH */
  constructor(upstream: UpstreamClient, spool: Spool, command = 'git') {
    this.#upstream = upstream
    this.#spool = spool
    this.#command = command
  }

  /** Lists every tag; an annotated tag has the commit that it leads to. @throws FillError */
  async tags(repository: GitRepository, signal: AbortSignal): Promise<Tag[]> {
    return within(listMs, signal, (limited) =>
      this.#connected(repository, limited, async (config) => {
        const args = ['ls-remote', '--quiet', '--tags', '--', repository.url]
        return tagsIn(await this.#read(args, limited, config, maxListBytes))
      }),
    )
  }

  /** Fetches the files of a ref as a tar. @throws FillError */
  async fetch(wanted: GitRef, { signal, onWaiting, limits }: FetchOptions): Promise<FetchedFile> {
    const reservedBytes = Math.min(limits.packedBytes * (1 + tarRatio), this.#spool.sizeBytes)
    const file = await this.#spool.reserve(reservedBytes, { signal, onWaiting })
    const path = `${file.path}.git`
    try {
      const written = await within(fetchMs, signal, async (limited) => {
        const clone = { path, signal: limited, limits }
        await this.#clone(clone, wanted)
        return this.#archive(clone, wanted, file)
      })
      this.#upstream.countBytes('git', written.sizeBytes)
      file.shrink(written.sizeBytes)
      return { file, ...written }
    } catch (error) {
      await file.remove()
      throw error
    } finally {
      await rm(path, { recursive: true, force: true })
    }
  }

  async #clone(clone: Clone, wanted: GitRef): Promise<void> {
    const { path, signal, limits } = clone
    await this.#read(['init', '--quiet', '--bare', '--template=', path], signal)
    await this.#connected(wanted, signal, async (config) => {
      const limit = new AbortController()
      const check = async () => {
        if ((await packedBytes(path)) > limits.packedBytes) limit.abort(tooLarge(limits))
      }
      const watch = setInterval(() => void check(), 200)
      const limited = { ...clone, signal: AbortSignal.any([signal, limit.signal]) }
      try {
        await this.#fetchAny(limited, wanted, config)
      } finally {
        clearInterval(watch)
      }
    })
    if ((await packedBytes(path)) > limits.packedBytes) throw tooLarge(limits)
  }

  /** Tries the tag of a name, then its branch. */
  async #fetchAny({ path, signal }: Clone, { url, ref }: GitRef, config: Config): Promise<void> {
    const [first = '', second] = refsFor(ref)
    const fetch = (from: string) => {
      const options = ['--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules']
      const args = ['fetch', ...options, '--', url, `+${from}:${fetchedRef}`]
      return this.#read([`--git-dir=${path}`, ...args], signal, config)
    }
    try {
      await fetch(first)
    } catch (error) {
      const isMissing = error instanceof FillError && error.reason === 'UpstreamNotFound'
      if (second === undefined || !isMissing) throw error
      await fetch(second)
    }
  }

  async #archive({ path, signal, limits }: Clone, { commit }: GitRef, file: SpoolFile) {
    const place = `--git-dir=${path}`
    const verify = [place, 'rev-parse', '--verify', '--quiet', `${fetchedRef}^{commit}`]
    const found = (await this.#read(verify, signal)).trim()
    if (commit !== undefined && found !== commit) {
      throw new FillError('FetchFailed', 'the tag was moved while it was fetched')
    }
    // Archives of hosts have one folder around everything. Without it, a repository of one folder would look like one.
    // A tree is archived: for a commit, `$Format:%G?$` in a file would let git run a program to check its signature.
    const args = [place, 'archive', '--format=tar', '--prefix=repository/', `${found}^{tree}`]
    const { stdout, ended } = this.#run(args, signal)
    const work = writeBody(stdout, file.path, limits.packedBytes * tarRatio)
    const written = await this.#upstream.translated(work, limits)
    await ended
    return written
  }

  #run(args: readonly string[], signal: AbortSignal, config: Config = {}) {
    return runGit(args, { command: this.#command, config, signal })
  }

  async #read(
    args: readonly string[],
    signal: AbortSignal,
    config: Config = {},
    maxBytes = maxOutputBytes,
  ): Promise<string> {
    const limit = new AbortController()
    const { stdout, ended } = this.#run(args, AbortSignal.any([signal, limit.signal]), config)
    let bytes = 0
    stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBytes) limit.abort(new FillError('FetchFailed', 'git wrote too much'))
    })
    const [output] = await Promise.all([text(stdout), ended])
    return output
  }

  /** Resolves and approves the host's addresses; git does not resolve them itself. */
  async #connected<T>(
    { url, access, namedByUpstream = false }: GitRepository,
    signal: AbortSignal,
    work: (config: Config) => Promise<T>,
  ): Promise<T> {
    const { egress } = this.#upstream
    const route = await this.#upstream.translated(egress.routeTo(url, { namedByUpstream }))
    const authorization = access?.credential?.authorization
    const config = {
      ...('proxyUrl' in route
        ? { 'http.proxy': route.proxyUrl }
        : { 'http.curloptResolve': pinned(new URL(url), route.addresses) }),
      ...(authorization !== undefined && { 'http.extraHeader': `Authorization: ${authorization}` }),
    }
    const extra = [route.ca, access?.ca].filter((pem) => pem !== undefined)
    if (extra.length === 0) return work(config)
    const file = await this.#spool.reserve(0, { signal })
    try {
      await writeFile(file.path, [...rootCertificates, ...extra].join('\n'), { mode: 0o600 })
      return await work({ ...config, 'http.sslCAInfo': file.path })
    } finally {
      await file.remove()
    }
  }
}

/** Gives work a deadline. @throws FillError UpstreamTimeout after it */
async function within<T>(
  deadlineMs: number,
  asked: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.any([asked, AbortSignal.timeout(deadlineMs)])
  try {
    return await work(signal)
  } catch (cause) {
    if (!isTimeout(signal.reason)) throw cause
    const message = 'git took too long: check the host of the repository, and proxies between'
    throw new FillError('UpstreamTimeout', message, { cause })
  }
}

function pinned({ hostname, port }: URL, addresses: readonly string[]): string {
  const shown = addresses.map((address) => (address.includes(':') ? `[${address}]` : address))
  return `${hostname}:${port || '443'}:${shown.join(',')}`
}

/** @throws FillError for a name that git does not allow, or would read as more than a name */
function refsFor(ref: string): string[] {
  if (ref === 'HEAD' || /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(ref)) return [ref]
  if (!isRefName(ref)) {
    throw new FillError('UpstreamNotFound', 'the source names a ref that git does not allow')
  }
  return ref.startsWith('refs/') ? [ref] : [`refs/tags/${ref}`, `refs/heads/${ref}`]
}

/** Applies the rules of `git check-ref-format`. */
export function isRefName(name: string): boolean {
  const isOdd = /[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|\/$|\.$|^[-/]|(?:^|\/)\.|\.lock(?:\/|$)/u
  return name !== '' && name !== '@' && name.length <= 255 && !isOdd.test(name)
}

/** Each line has a commit and a ref; the line with `^{}` has the commit that an annotated tag leads to. */
function tagsIn(lines: string): Tag[] {
  const commits = new Map<string, string>()
  for (const line of lines.split('\n')) {
    const [, commit, name] = /^([0-9a-f]{40}|[0-9a-f]{64})\trefs\/tags\/(.+)$/.exec(line) ?? []
    if (commit === undefined || name === undefined) continue
    const isPeeled = name.endsWith('^{}')
    const tag = isPeeled ? name.slice(0, -3) : name
    if (isPeeled || !commits.has(tag)) commits.set(tag, commit)
  }
  return Array.from(commits, ([name, commit]) => ({ name, commit }))
}

/** Size of the packs; files may be created and removed meanwhile. */
async function packedBytes(repository: string): Promise<number> {
  const packs = join(repository, 'objects/pack')
  const names = await readdir(packs).catch(() => [])
  const sizeOf = (name: string) =>
    stat(join(packs, name)).then(
      ({ size }) => size,
      () => 0,
    )
  const sizes = await Promise.all(names.map(sizeOf))
  return sizes.reduce((sum, size) => sum + size, 0)
}

const tooLarge = (limits: Clone['limits']): FillError =>
  archiveTooLarge('the pack of the repository', limits)

interface GitModuleOptions {
  readonly upstream: UpstreamClient
  readonly git: Git
  readonly cache: ListingCache
  readonly url: string
  readonly path: string | undefined
  readonly tagPrefix: string
  readonly access: () => Promise<SourceAccess>
}

const Tags = z.array(z.object({ name: z.string(), commit: z.string() }))

/** Tags of a git repository that is served over https. */
export function gitModule(options: GitModuleOptions): ModuleUpstream {
  const { upstream, git, cache, url, path, tagPrefix } = options
  const identity = `git:${shownUrl(url)}`

  /** How far the clock of the host is ahead. Git does not tell, so the host is asked for its time alone. */
  async function skewOf({ ca }: SourceAccess, { signal, datesOf }: UpstreamOptions) {
    if (datesOf === undefined) return undefined
    const { origin, host } = new URL(url)
    // A page elsewhere, to which the host redirects, has another clock, and may be refused.
    const request = { method: 'HEAD', follows: false, signal, ca } as const
    // A host that does not answer this may still have a list.
    const answer = await upstream.ask(`${origin}/`, request).catch(() => undefined)
    return answer && upstream.skewMs(host)
  }

  return {
    identity,
    type: 'git',
    async list(asking) {
      const access = await options.access()
      const key = `${identity} ${access.credential?.id ?? ''}`
      const { value, unchanged } = await cache.get(key, Tags, asking, async (former) => {
        const tags = await git.tags({ url, access }, asking.signal)
        const named = tags.filter(({ name }) => isRefName(name))
        return { value: named, unchanged: JSON.stringify(named) === JSON.stringify(former) }
      })
      const skewMs = await skewOf(access, asking)
      return { ...versionsOf(value, tagPrefix), unchanged, skewMs }
    },
    resolve(version, asking) {
      return resolveFromList(this, version, asking)
    },
    async fetch(resolved, fetching) {
      const access = await options.access()
      const { ref, revision } = resolved
      const wanted = { url, access, ref: `refs/tags/${ref}`, commit: commitOf(resolved) }
      return { ...(await git.fetch(wanted, fetching)), revision, path }
    },
  }
}
