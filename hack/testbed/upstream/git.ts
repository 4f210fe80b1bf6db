import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { answer, Faults, type StandInAnswer } from './faults.ts'
import { type HttpsServer, serveHttps, type UpstreamAuthority } from './https-server.ts'

/**
 * git's own server behind TLS: `git http-backend` as a CGI program.
 *
 * Not imitated: pushes, limits, LFS, and what hosts put in front of it.
 */
export class GitServer {
  readonly faults = new Faults()
  /** The header that is asked for; none: all may read. */
  authorization: string | undefined
  /** The address that every request is redirected to. */
  redirectTo: string | undefined
  readonly #dir: string
  readonly #server: HttpsServer

  private constructor(dir: string, server: HttpsServer) {
    this.#dir = dir
    this.#server = server
  }

  static async start(authority: UpstreamAuthority): Promise<GitServer> {
    const dir = mkdtempSync(join(tmpdir(), 'depot-git-'))
    const started: GitServer[] = []
    const server = await serveHttps(authority, 'git', (incoming, outgoing) => {
      for (const one of started) one.#answer(incoming, outgoing)
    })
    const one = new GitServer(dir, server)
    started.push(one)
    return one
  }

  get host(): string {
    return this.#server.host
  }

  get seen(): HttpsServer['seen'] {
    return this.#server.seen
  }

  urlOf(repository: string): string {
    return `${this.#server.origin}/${repository}.git`
  }

  /** The bare repository itself, for what no well-meant push makes. */
  pathOf(repository: string): string {
    return join(this.#dir, `${repository}.git`)
  }

  /**
   * Commits files to a bare repository, which is created if it is missing, and tags the commit.
   *
   * @returns the commit
   */
  tag(
    repository: string,
    tag: string,
    files: Readonly<Record<string, string>>,
    annotated = true,
  ): string {
    const bare = this.pathOf(repository)
    const work = mkdtempSync(join(tmpdir(), 'depot-git-work-'))
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], {
        cwd: work,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...author },
      }).trim()
    try {
      mkdirSync(bare, { recursive: true })
      git('init', '--quiet', '--bare', bare)
      git('init', '--quiet')
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(work, path)), { recursive: true })
        writeFileSync(join(work, path), text)
      }
      git('add', '--all')
      git('commit', '--quiet', '--allow-empty', '--message', tag)
      const kind = annotated ? ['--annotate', '--message', tag] : []
      git('tag', ...kind, '--', tag)
      git('push', '--quiet', '--force', bare, `refs/tags/${tag}`, `HEAD:refs/heads/main`)
      return git('rev-parse', 'HEAD')
    } finally {
      rmSync(work, { recursive: true, force: true })
    }
  }

  async close(): Promise<void> {
    await this.#server.close()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  #answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { url = '', method = '', headers } = incoming
    if (this.redirectTo !== undefined) {
      outgoing.writeHead(302, { location: `${this.redirectTo}${url}` }).end()
      return
    }
    if (this.authorization !== undefined && headers.authorization !== this.authorization) {
      outgoing.writeHead(401, { 'www-authenticate': 'Basic' }).end()
      return
    }
    const [path = '', query = ''] = url.split('?')
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: this.#dir,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
        PATH_INFO: decodeURIComponent(path),
        QUERY_STRING: query,
        REQUEST_METHOD: method,
        CONTENT_TYPE: headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
        REMOTE_ADDR: '127.0.0.1',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    backend.stdin.on('error', () => undefined)
    incoming.pipe(backend.stdin)
    const fault = this.faults.for(url)
    if (fault === undefined) sendCgi(backend.stdout, outgoing)
    else void buffer(backend.stdout).then((output) => answer(outgoing, fault, answerIn(output)))
  }
}

const author = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'depot',
  GIT_AUTHOR_EMAIL: 'depot@example.com',
  GIT_COMMITTER_NAME: 'depot',
  GIT_COMMITTER_EMAIL: 'depot@example.com',
}

/** The head that a CGI program writes, then its body as it comes. */
function sendCgi(output: NodeJS.ReadableStream, outgoing: ServerResponse): void {
  let head = Buffer.alloc(0)
  let isBody = false
  output.on('data', (chunk: Buffer) => {
    if (isBody) {
      outgoing.write(chunk)
      return
    }
    head = Buffer.concat([head, chunk])
    if (!head.includes(endOfHead)) return
    isBody = true
    const { status, headers, body } = answerIn(head)
    outgoing.writeHead(status, headers)
    outgoing.write(body)
  })
  output.on('end', () => outgoing.end())
}

const endOfHead = '\r\n\r\n'

function answerIn(output: Buffer): StandInAnswer {
  const end = output.indexOf(endOfHead)
  const lines = output.subarray(0, end).toString('latin1').split('\r\n')
  const all = lines.map((line) => line.split(/:\s*/, 2) as [string, string])
  const { Status: status = '200', ...headers } = Object.fromEntries(all)
  return { status: Number.parseInt(status, 10), headers, body: output.subarray(end + 4) }
}
