import { readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { rootCertificates } from 'node:tls'
import type { Spool, SpoolFile } from '../../archives/spool/spool.ts'
import { writeBody } from '../egress/egress.ts'
import { SourceError } from './errors.ts'
import { runGit } from './git-process.ts'
import type { FetchSourceMetrics } from './metrics.ts'
import type { FetchOptions } from './module-source.ts'
import type { Access } from './secrets.ts'
import type { Tag } from './tags.ts'
import type { Upstream } from './upstream.ts'

/** A repository, and what opens it. */
export interface GitPlace {
  /** https, without credentials. */
  readonly url: string
  readonly access?: Access | undefined
  readonly namedByUpstream?: boolean
}

export interface GitRef extends GitPlace {
  /** A tag, a branch, a commit in full, or HEAD. */
  readonly ref: string
  /** The commit that it must point to. */
  readonly commit?: string | undefined
}

/** What `git archive` may write for a packed limit: normalising sets the true one. */
const tarRatio = 5
const listMs = 60_000
const fetchMs = 30 * 60_000
const maxListBytes = 16 * 1024 * 1024
const fetched = 'refs/depot/fetched'

export interface GitDependencies {
  readonly upstream: Upstream
  readonly spool: Spool
  readonly metrics: FetchSourceMetrics
  /** Default: git, on PATH. */
  readonly command?: string | undefined
}

/** The git program, kept in bounds. */
export class Git {
  readonly #upstream: Upstream
  readonly #spool: Spool
  readonly #metrics: FetchSourceMetrics
  readonly #command: string

  constructor({ upstream, spool, metrics, command = 'git' }: GitDependencies) {
    this.#upstream = upstream
    this.#spool = spool
    this.#metrics = metrics
    this.#command = command
  }

  /** Every tag, annotated ones with the commit that they lead to. @throws SourceError */
  async tags(place: GitPlace, asked: AbortSignal): Promise<Tag[]> {
    return this.#within(asked, listMs, async (signal) =>
      this.#connected(place, signal, async (config) => {
        const args = ['ls-remote', '--quiet', '--tags', '--', place.url]
        const lines = await this.#read(args, config, signal, maxListBytes)
        return tagsIn(lines)
      }),
    )
  }

  /** The files of a ref as a tar. @throws SourceError */
  async fetch(
    wanted: GitRef,
    { signal: asked, onWaiting, maxBytes }: FetchOptions,
  ): Promise<{ file: SpoolFile; sizeBytes: number; sha256: string }> {
    const reservedBytes = Math.min(maxBytes * (1 + tarRatio), this.#spool.sizeBytes)
    const file = await this.#spool.reserve(reservedBytes, {
      signal: asked,
      ...(onWaiting !== undefined && { onWaiting }),
    })
    const repository = `${file.path}.git`
    try {
      const written = await this.#within(asked, fetchMs, async (signal) => {
        await this.#into(repository, wanted, signal, maxBytes)
        return this.#archive(repository, wanted, file, signal, maxBytes * tarRatio)
      })
      this.#metrics.bytes.inc({ source: 'git' }, written.sizeBytes)
      file.shrink(written.sizeBytes)
      return { file, ...written }
    } catch (error) {
      await file.remove()
      throw error
    } finally {
      await rm(repository, { recursive: true, force: true })
    }
  }

  async #into(
    repository: string,
    wanted: GitRef,
    signal: AbortSignal,
    maxBytes: number,
  ): Promise<void> {
    await this.#read(['init', '--quiet', '--bare', '--template=', repository], {}, signal)
    await this.#connected(wanted, signal, async (config) => {
      const limit = new AbortController()
      const watch = setInterval(() => {
        void checkSize(repository, maxBytes, limit)
      }, 200)
      try {
        await this.#fetchAny(repository, wanted, config, AbortSignal.any([signal, limit.signal]))
      } finally {
        clearInterval(watch)
      }
    })
    if ((await sizeOf(repository)) > maxBytes) throw tooLarge(maxBytes)
  }

  /** A name that is no commit is a tag, or else a branch. */
  async #fetchAny(
    repository: string,
    { url, ref }: GitRef,
    config: Config,
    signal: AbortSignal,
  ): Promise<void> {
    const fetch = (from: string) => {
      const options = ['--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules']
      const args = ['fetch', ...options, '--', url, `+${from}:${fetched}`]
      return this.#read([`--git-dir=${repository}`, ...args], config, signal)
    }
    const [first = '', ...others] = placesOf(ref)
    try {
      await fetch(first)
    } catch (error) {
      const [second] = others
      const isMissing = error instanceof SourceError && error.reason === 'NotFound'
      if (second === undefined || !isMissing) throw error
      await fetch(second)
    }
  }

  async #archive(
    repository: string,
    { commit }: GitRef,
    file: SpoolFile,
    signal: AbortSignal,
    maxBytes: number,
  ): Promise<{ sizeBytes: number; sha256: string }> {
    const place = `--git-dir=${repository}`
    const verify = [place, 'rev-parse', '--verify', '--quiet', `${fetched}^{commit}`]
    const found = (await this.#read(verify, {}, signal)).trim()
    if (commit !== undefined && found !== commit) {
      throw new SourceError('FetchFailed', 'the tag was moved while it was fetched')
    }
    // One folder around all, as archives of hosts have it: a repository of one folder would be taken for one of those.
    // Of a commit, git would check the signature by another program where a file of it asks for that with `$Format:%G?$`.
    const tree = `${found}^{tree}`
    const args = [place, 'archive', '--format=tar', '--prefix=repository/', tree]
    const { stdout, ended } = this.#run(args, {}, signal)
    const work = writeBody(stdout, file.path, maxBytes)
    const written = await this.#upstream.explained(work, 'ArchiveTooLarge')
    await ended
    return written
  }

  #run(args: readonly string[], config: Config, signal: AbortSignal) {
    return runGit(args, { command: this.#command, config, signal })
  }

  async #read(
    args: readonly string[],
    config: Config,
    signal: AbortSignal,
    maxBytes = 1024 * 1024,
  ): Promise<string> {
    const limit = new AbortController()
    const { stdout, ended } = this.#run(args, config, AbortSignal.any([signal, limit.signal]))
    let bytes = 0
    stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBytes) limit.abort(new SourceError('FetchFailed', 'git wrote too much'))
    })
    const [said] = await Promise.all([text(stdout), ended])
    return said
  }

  /** Works out how the host may be reached; the program does not look it up itself. */
  async #connected<T>(
    { url, access, namedByUpstream = false }: GitPlace,
    signal: AbortSignal,
    work: (config: Config) => Promise<T>,
  ): Promise<T> {
    const route = await this.#upstream.explained(
      this.#upstream.egress.routeTo(url, { namedByUpstream }),
    )
    const { hostname, port } = new URL(url)
    const authorization = access?.credential?.authorization
    const config = {
      ...('proxyUrl' in route
        ? { 'http.proxy': route.proxyUrl }
        : { 'http.curloptResolve': pinned(hostname, port || '443', route.addresses) }),
      ...(authorization !== undefined && { 'http.extraHeader': `Authorization: ${authorization}` }),
    }
    const extra = [route.ca, access?.ca].filter((pem) => pem !== undefined)
    if (extra.length === 0) return work(config)
    const pem = [...rootCertificates, ...extra].join('\n')
    const file = await this.#spool.reserve(0, { signal })
    try {
      await writeFile(file.path, pem, { mode: 0o600 })
      return await work({ ...config, 'http.sslCAInfo': file.path })
    } finally {
      await file.remove()
    }
  }

  async #within<T>(
    asked: AbortSignal,
    deadlineMs: number,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const deadline = AbortSignal.timeout(deadlineMs)
    try {
      return await work(AbortSignal.any([asked, deadline]))
    } catch (error) {
      if (asked.aborted || !deadline.aborted) throw error
      throw new SourceError('FetchFailed', `git took longer than ${deadlineMs / 1000} s`, {
        cause: error,
      })
    }
  }
}

type Config = Readonly<Record<string, string>>

function pinned(hostname: string, port: string, addresses: readonly string[]): string {
  const shown = addresses.map((address) => (address.includes(':') ? `[${address}]` : address))
  return `${hostname}:${port}:${shown.join(',')}`
}

/** @throws SourceError for what no ref is called, and what git would read as more than a name */
function placesOf(ref: string): string[] {
  if (ref === 'HEAD' || /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(ref)) return [ref]
  if (!isRefName(ref))
    throw new SourceError('NotFound', 'the source names a ref that git does not allow')
  return ref.startsWith('refs/') ? [ref] : [`refs/tags/${ref}`, `refs/heads/${ref}`]
}

/** As `git check-ref-format` has it. */
export function isRefName(name: string): boolean {
  const isOdd = /[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|\/$|\.$|^[-/]|(?:^|\/)\.|\.lock(?:\/|$)/u
  return name !== '' && name !== '@' && name.length <= 255 && !isOdd.test(name)
}

/** Lines of a commit and a ref; `^{}` after an annotated tag says what it leads to. */
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

/** Of the packs; files may come and go while it is asked. */
async function sizeOf(repository: string): Promise<number> {
  const packs = join(repository, 'objects/pack')
  const names = await readdir(packs).catch(() => [])
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(packs, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function checkSize(repository: string, maxBytes: number, limit: AbortController) {
  if ((await sizeOf(repository)) > maxBytes) limit.abort(tooLarge(maxBytes))
}

function tooLarge(maxBytes: number): SourceError {
  return new SourceError('ArchiveTooLarge', `the repository packs to more than ${maxBytes} bytes`)
}
