import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { jwtVerify } from 'jose'
import { type Entry, tarGzOf } from '../registry/archives.ts'
import { answer, Faults, type StandInAnswer } from './faults.ts'
import { type HttpsServer, serveHttps, type UpstreamAuthority } from './https-server.ts'

export interface Repository {
  /** Requires a token. */
  readonly isPrivate?: boolean
  /** Files of each tag, in the order in which tags are listed. */
  readonly tags: Map<string, readonly Entry[]>
  /** When the release of a tag was published; null for a draft. */
  readonly releases?: ReadonlyMap<string, string | null>
  /** SPDX id. */
  readonly licence?: string
}

/**
 * A server with the shape of GitHub's API: tags in pages with ETags, archives by way of a redirect to a second host where
 * no token may come, rate headers, and tokens of apps.
 *
 * Not imitated: everything but these eight calls, the order of tags, secondary limits unless asked for, names of
 * repositories that changed, archives that are made while they are sent, and permissions of apps.
 */
export class GithubServer {
  readonly faults = new Faults()
  readonly leaks: string[] = []
  /** By `owner/name`. */
  readonly repositories = new Map<string, Repository>()
  readonly tokens = new Set<string>()
  /** An app's public key by its id. */
  readonly apps = new Map<string, KeyObject>()
  limit = 5000
  remaining = 5000
  /** Called when a page of tags has been answered. */
  onPage: (() => void) | undefined
  #issued = 0
  readonly #api: HttpsServer
  readonly #archives: HttpsServer

  private constructor(api: HttpsServer, archives: HttpsServer) {
    this.#api = api
    this.#archives = archives
  }

  static async start(authority: UpstreamAuthority): Promise<GithubServer> {
    const started: GithubServer[] = []
    const serve = (name: string, of: 'api' | 'archives') =>
      serveHttps(authority, name, async (incoming, outgoing) => {
        await Promise.all(started.map((one) => one.#answer(of, incoming, outgoing)))
      })
    const one = new GithubServer(await serve('api', 'api'), await serve('codeload', 'archives'))
    started.push(one)
    return one
  }

  get apiUrl(): string {
    return this.#api.origin
  }

  get hosts(): string[] {
    return [this.#api.host, this.#archives.host]
  }

  get asked(): string[] {
    return [...this.#api.seen, ...this.#archives.seen].map(({ method, url }) => `${method} ${url}`)
  }

  forget(): void {
    this.#api.seen.length = 0
    this.#archives.seen.length = 0
  }

  addApp(id: string, privateKeyPem: string): void {
    this.apps.set(id, createPublicKey(privateKeyPem))
  }

  /** Adds a tag, or moves it. */
  tag(repository: string, tag: string, files: Readonly<Record<string, string>>): void {
    const entries = Object.entries(files).map(([path, text]) => ({
      path,
      content: Buffer.from(text),
    }))
    const known = this.repositories.get(repository) ?? { tags: new Map() }
    known.tags.set(tag, entries)
    this.repositories.set(repository, known)
  }

  async close(): Promise<void> {
    await Promise.all([this.#api.close(), this.#archives.close()])
  }

  async #answer(
    of: 'api' | 'archives',
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> {
    const { url = '', headers } = incoming
    const { authorization } = headers
    const token = authorization?.replace(/^Bearer /, '')
    const isLeak = of === 'archives' && authorization !== undefined
    if (isLeak) this.leaks.push(url)
    const found = isLeak
      ? { status: 400 }
      : of === 'api'
        ? await this.#calls(url, token)
        : await this.#archive(url)
    const { status = 200, body = Buffer.alloc(0) } = found
    const etag = `W/"${commitOf(`${token}${found.headers?.['link']}${body.toString('base64')}`)}"`
    const isSame = status === 200 && headers['if-none-match'] === etag
    if (of === 'api' && !isSame) this.remaining -= 1
    const limits = {
      'x-ratelimit-limit': String(this.limit),
      'x-ratelimit-remaining': String(this.remaining),
      'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 3600),
    }
    const all = { ...found.headers, ...limits, ...(status === 200 && { etag }) }
    const sent = isSame ? { status: 304, headers: all } : { ...found, headers: all }
    await answer(outgoing, this.faults.for(url), sent)
    if (url.includes('/tags')) this.onPage?.()
  }

  async #calls(url: string, token: string | undefined): Promise<Partial<StandInAnswer>> {
    const installation = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(url)
    if (installation !== null) return this.#token(token)
    if (token !== undefined && !this.tokens.has(token)) {
      return { ...json({ message: 'Bad credentials' }), status: 401 }
    }
    const [, name = '', call = '', rest = ''] =
      /^\/repos\/([^/]+\/[^/]+)(?:\/(tags|releases|tarball|contents|commits)([^#]*))?$/.exec(url) ??
      []
    const repository = this.repositories.get(name)
    if (repository === undefined || (repository.isPrivate === true && token === undefined)) {
      return { ...json({ message: 'Not Found' }), status: 404 }
    }
    if (call === '') {
      const { licence, isPrivate = false } = repository
      const license = licence === undefined ? null : { spdx_id: licence }
      return json({ full_name: name, private: isPrivate, license })
    }
    if (call === 'tags') return this.#tags(name, repository, new URLSearchParams(rest))
    if (call === 'releases') return this.#releases(name, repository, new URLSearchParams(rest))
    if (call === 'contents') return this.#file(name, repository, rest)
    if (call === 'commits') return this.#commit(name, repository, rest)
    const location = `https://${this.#archives.host}/${name}/legacy.tar.gz${rest}`
    return { status: 302, headers: { location } }
  }

  #file(name: string, { tags }: Repository, rest: string): Partial<StandInAnswer> {
    const [, path, ref] = /^\/([^?]+)\?ref=(.+)$/.exec(rest) ?? []
    const [, files = []] =
      [...tags].find(([tag, entries]) => [tag, shaOf(name, tag, entries)].includes(ref ?? '')) ?? []
    if (files.some((one) => one.path.startsWith(`${path}/`))) return json([{ type: 'file' }])
    const file = files.find((one) => one.path === path)
    return file === undefined
      ? { ...json({ message: 'Not Found' }), status: 404 }
      : { headers: { 'content-type': 'application/vnd.github.raw' }, body: file.content }
  }

  #commit(name: string, { tags }: Repository, rest: string): Partial<StandInAnswer> {
    const shas = [...tags].map(([tag, entries]) => shaOf(name, tag, entries))
    const sha = shas.find((one) => rest === `/${one}`)
    return sha === undefined
      ? { ...json({ message: `No commit found for SHA: ${rest.slice(1)}` }), status: 422 }
      : { headers: { 'content-type': 'application/vnd.github.sha' }, body: Buffer.from(sha) }
  }

  #tags(name: string, { tags }: Repository, query: URLSearchParams): Partial<StandInAnswer> {
    const all = [...tags].map(([tag, entries]) => ({
      name: tag,
      commit: { sha: shaOf(name, tag, entries) },
    }))
    return this.#page(`${name}/tags`, all, query)
  }

  #releases(
    name: string,
    { releases = new Map() }: Repository,
    query: URLSearchParams,
  ): Partial<StandInAnswer> {
    const all = [...releases].map(([tag_name, published_at]) => ({ tag_name, published_at }))
    return this.#page(`${name}/releases`, all, query)
  }

  #page(of: string, all: readonly object[], query: URLSearchParams): Partial<StandInAnswer> {
    const size = Number(query.get('per_page') ?? 30)
    const page = Number(query.get('page') ?? 1)
    const next = `<${this.#api.origin}/repos/${of}?per_page=${size}&page=${page + 1}>; rel="next"`
    const body = all.slice((page - 1) * size, page * size)
    return { ...json(body), headers: all.length > page * size ? { link: next } : {} }
  }

  async #archive(url: string): Promise<Partial<StandInAnswer>> {
    const [, name = '', ref = ''] = /^\/([^/]+\/[^/]+)\/legacy\.tar\.gz\/(.+)$/.exec(url) ?? []
    for (const [tag, files] of this.repositories.get(name)?.tags ?? []) {
      const sha = shaOf(name, tag, files)
      if (sha !== ref && tag !== decodeURIComponent(ref)) continue
      const folder = `${name.replace('/', '-')}-${sha.slice(0, 7)}`
      const entries = files.map((file) => ({ ...file, path: `${folder}/${file.path}` }))
      return { headers: { 'content-type': 'application/x-gzip' }, body: await tarGzOf(entries) }
    }
    return { status: 404 }
  }

  /** A token for who shows that it has the key of the app. */
  async #token(jwt: string | undefined): Promise<Partial<StandInAnswer>> {
    const claims = Buffer.from(jwt?.split('.')[1] ?? '', 'base64url').toString()
    const [, issuer = ''] = /"iss":"?([^",}]+)/.exec(claims) ?? []
    const key = this.apps.get(issuer)
    try {
      if (key === undefined || jwt === undefined) throw new Error('unknown app')
      await jwtVerify(jwt, key, { maxTokenAge: '10m' })
    } catch {
      return { ...json({ message: 'A JSON web token could not be decoded' }), status: 401 }
    }
    this.#issued += 1
    const token = `ghs_${this.#issued}`
    this.tokens.add(token)
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    return { ...json({ token, expires_at }), status: 201 }
  }
}

const commitOf = (text: string): string => createHash('sha1').update(text).digest('hex')

const shaOf = (name: string, tag: string, files: readonly Entry[] = []): string =>
  commitOf(JSON.stringify([name, tag, files]))

function json(value: object): Partial<StandInAnswer> {
  return {
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(value)),
  }
}
