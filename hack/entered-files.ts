import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { TestIssuer } from '../pkg/registry/auth/issuer.fixture.ts'
import { createAuthority } from './testbed/control-plane/certificates.ts'
import { FakeApiServer } from './testbed/control-plane/fake-api-server.ts'
import { moduleObject, paths } from './testbed/control-plane/fake-cluster.ts'
import { kubeconfigOf } from './testbed/control-plane/kubeconfig.ts'
import { Registry } from './testbed/registry/registry.ts'

/*
 * Counts the source files that a request enters in a real `depot server`: on a cluster, with OIDC and its log. The coverage
 * of the running process is read through the inspector, so it shows code that ran, not code that was imported.
 * `node hack/entered-files.ts [WALK]` prints the files of one walk, or the count of each.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const versions = '/depot/modules/v1/team/vpc/aws/versions'

export type Walk = 'known token' | 'new token' | 'archive' | 'added module'

/** The files of pkg and cmd that each walk enters, sorted. */
export async function enteredFiles(): Promise<Record<Walk, string[]>> {
  await using server = await Measured.start()
  const [known, other] = [await server.token('ann'), await server.token('eve')]
  // The first requests of a process compile and fill what later ones find.
  for (let times = 0; times < 4; times++) await server.get(versions, known)
  await server.walk(() => server.download(known))

  return {
    'known token': await server.walk(() => server.get(versions, known)),
    'new token': await server.walk(() => server.get(versions, other)),
    archive: await server.walk(() => server.download(known)),
    'added module': await server.eachTime((name) => server.add(name)),
  }
}

/** A server process whose coverage can be taken. */
class Measured implements AsyncDisposable {
  readonly #registry = new Registry()
  readonly #process: ChildProcess
  readonly #inspector: WebSocket
  readonly #url: string
  readonly #issuer: TestIssuer
  readonly #api: FakeApiServer
  #sent = 0

  private constructor(parts: {
    child: ChildProcess
    inspector: WebSocket
    url: string
    issuer: TestIssuer
    api: FakeApiServer
    registry: Registry
  }) {
    this.#process = parts.child
    this.#inspector = parts.inspector
    this.#url = parts.url
    this.#issuer = parts.issuer
    this.#api = parts.api
    this.#registry = parts.registry
  }

  static async start(): Promise<Measured> {
    const registry = new Registry()
    const issuer = await TestIssuer.start()
    const authority = createAuthority(join(registry.dir, 'pki'))
    const api = new FakeApiServer(authority.server('fake'))
    await api.start()
    fill(api, registry)
    const kubeconfig = join(registry.dir, 'kubeconfig')
    writeFileSync(kubeconfig, kubeconfigOf({ url: api.url, ca: authority.cert, token: 'secret' }))

    const flags = Object.entries({
      '--kubeconfig': kubeconfig,
      '--archives': registry.archives,
      '--storage-grants': '*=*',
      '--stats-path': join(registry.dir, 'stats.db'),
      '--oidc-issuer-url': issuer.url,
      '--oidc-client-id': 'depot',
      '--listen': '127.0.0.1:0',
      '--admin-listen': '127.0.0.1:0',
    }).flat()
    const main = join(root, 'cmd/depot/main.ts')
    const child = spawn(process.execPath, ['--inspect=127.0.0.1:0', main, 'server', ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // V8 counts less precisely what it did not compile itself.
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
    })
    const inspectorUrl = lineOf(child, 'stderr', /listening on (ws:\S+)/)
    const listening = lineOf(child, 'stdout', /"url":"([^"]+)".*"msg":"listening"/)
    const inspector = new WebSocket(await inspectorUrl)
    await once(inspector, 'open')
    const parts = { child, inspector, url: await listening, issuer, api, registry }
    const measured = new Measured(parts)
    await measured.#ready()
    await measured.#ask('Profiler.enable')
    await measured.#ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    return measured
  }

  async #ready(): Promise<void> {
    const token = await this.token('ann')
    while ((await this.#send(versions, token)).status !== 200) await sleep(50)
  }

  token(sub: string): Promise<string> {
    return this.#issuer.sign({ sub, groups: ['platform', sub] })
  }

  async get(path: string, token: string): Promise<Response> {
    const answer = await this.#send(path, token)
    if (!answer.ok) throw new Error(`GET ${path}: ${answer.status}`)
    await answer.arrayBuffer()
    return answer
  }

  #send(path: string, token: string): Promise<Response> {
    const headers = { authorization: `Bearer ${token}`, 'user-agent': 'Terraform/1.11.4' }
    return fetch(`${this.#url}${path}`, { headers })
  }

  /** Fetches an archive as a CLI does, and waits until the store of counts has the download. */
  async download(token: string): Promise<void> {
    const file = join(this.#registry.dir, 'stats.db-wal')
    const changedAt = () => statSync(file, { throwIfNoEntry: false })?.mtimeMs
    const before = changedAt()
    const answer = await this.get(versions.replace('versions', '1.0.0/download'), token)
    const place = new URL(answer.headers.get('x-terraform-get') ?? '', this.#url)
    await this.get(place.pathname + place.search, token)
    while (changedAt() === before) await sleep(10)
  }

  /** Adds a Module to the cluster. Its watch sends it at once. */
  add(name: string): void {
    this.#api.put(paths.modules, moduleObject(name, { provider: 'aws' }))
  }

  /** Walks twice: a timer of the process may enter a file during one walk. @returns the files of both walks */
  async eachTime(act: (name: string) => unknown): Promise<string[]> {
    const one = await this.walk(() => act('one'))
    const other = new Set(await this.walk(() => act('other')))
    return one.filter((file) => other.has(file))
  }

  /** @returns the files that were entered until the process is idle again */
  async walk(act: () => unknown): Promise<string[]> {
    await this.#untilIdle()
    await act()
    const entered = new Set<string>()
    while (entered.size === 0) for (const file of await this.#untilIdle()) entered.add(file)
    return [...entered].toSorted()
  }

  /** Waits until no file was entered five times in a row. @returns those that were entered before that */
  async #untilIdle(): Promise<Set<string>> {
    const entered = new Set<string>()
    for (let idle = 0; idle < 5; ) {
      const taken = await this.#take()
      idle = taken.length === 0 ? idle + 1 : 0
      for (const file of taken) entered.add(file)
      await sleep(20)
    }
    return entered
  }

  /** The files that were entered since this was asked last. */
  async #take(): Promise<string[]> {
    interface Script {
      readonly url: string
      readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[]
    }
    const { result } = (await this.#ask('Profiler.takePreciseCoverage')) as { result: Script[] }
    return result
      .filter(({ url }) => url.startsWith('file:'))
      .filter(({ functions }) => functions.some((it) => it.ranges.some(({ count }) => count > 0)))
      .map(({ url }) => relative(root, fileURLToPath(url)))
      .filter((path) => /^(?:pkg|cmd)\//.test(path))
  }

  async #ask(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#sent
    const answered = Promise.withResolvers<unknown>()
    const heard = ({ data }: MessageEvent): void => {
      const message = JSON.parse(String(data)) as { id?: number; result?: unknown }
      if (message.id === id) answered.resolve(message.result)
    }
    this.#inspector.addEventListener('message', heard)
    this.#inspector.send(JSON.stringify({ id, method, params }))
    const result = await answered.promise
    this.#inspector.removeEventListener('message', heard)
    return result
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#inspector.close()
    const exited = once(this.#process, 'exit')
    this.#process.kill()
    await exited
    await this.#api.stop()
    this.#issuer.stop()
    this.#registry.remove()
  }
}

const archive = 'an archive'

/** A module with one version and its archive, and a binding that lets the callers read it. */
function fill(api: FakeApiServer, registry: Registry): void {
  const storageConfig = { fileSystem: { directoryPath: 'modules' } }
  api.put(paths.modules, moduleObject('vpc', { provider: 'aws', storageConfig }))
  api.put(paths.versions, {
    kind: 'Version',
    metadata: { name: 'vpc-1.0.0', namespace: 'team' },
    spec: {
      type: 'Module',
      version: '1.0.0',
      fileName: 'vpc.zip',
      moduleConfigRef: { name: 'vpc' },
    },
    status: { checksum: createHash('sha256').update(archive).digest('hex'), synced: true },
  })
  api.put(paths.groupBindings, {
    kind: 'GroupBinding',
    metadata: { name: 'all', namespace: 'depot-system' },
    spec: { expression: '"platform" in groups', moduleResources: ['*'] },
  })
  mkdirSync(join(registry.archives, 'modules/vpc'), { recursive: true })
  writeFileSync(join(registry.archives, 'modules/vpc/vpc.zip'), archive)
}

/** The text in the brackets of the first line that matches. */
function lineOf(
  child: ChildProcess,
  stream: 'stdout' | 'stderr',
  pattern: RegExp,
): Promise<string> {
  const found = Promise.withResolvers<string>()
  const said: string[] = []
  const input = child[stream]
  if (input === null) throw new Error(`no ${stream}`)
  createInterface({ input }).on('line', (line) => {
    said.push(line)
    const [, value] = pattern.exec(line) ?? []
    if (value !== undefined) found.resolve(value)
  })
  child.once('exit', (code) => found.reject(new Error(`ended with ${code}:\n${said.join('\n')}`)))
  return found.promise
}

if (import.meta.main) {
  const walks = await enteredFiles()
  const [wanted] = process.argv.slice(2)
  for (const [walk, files] of Object.entries(walks)) {
    if (wanted === undefined) console.log(`${walk}: ${files.length} files`)
    else if (walk === wanted) console.log(files.join('\n'))
  }
}
