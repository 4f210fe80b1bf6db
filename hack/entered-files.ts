import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TestIssuer } from '../pkg/registry/auth/issuer.fixture.ts'
import { ProfiledProcess, type Walked } from './profiled-process.ts'
import { createAuthority } from './testbed/control-plane/certificates.ts'
import { FakeApiServer } from './testbed/control-plane/fake-api-server.ts'
import { moduleObject, paths } from './testbed/control-plane/fake-cluster.ts'
import { kubeconfigOf } from './testbed/control-plane/kubeconfig.ts'
import { Registry } from './testbed/registry/registry.ts'
import { startUpstreams, type Upstreams } from './testbed/upstream/upstreams.ts'

/*
 * Counts the source files that a request enters in a real `depot server`, on a cluster, with OIDC and its log, and those that a
 * new tag enters in a real `depot sync --watch` until its version is stored.
 * `node hack/entered-files.ts [WALK]` prints the files of one walk, or the count of each.
 */

const versions = '/depot/modules/v1/team/vpc/aws/versions'

export type Walk = 'known token' | 'new token' | 'archive' | 'added module' | 'new tag'

/** The files of pkg and cmd that each walk of a server enters, sorted. */
export async function enteredFiles(): Promise<Record<Exclude<Walk, 'new tag'>, readonly string[]>> {
  await using server = await MeasuredServer.start()
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

/** The work of `depot sync --watch` for a new tag of a repository, from the request to poll until the version is stored. */
export async function newTag(): Promise<Walked> {
  await using sync = await MeasuredSync.start()
  await sync.tag('1.0.0')
  return await sync.process.walk(() => sync.tag('1.1.0'))
}

/** `depot server` with one module, on a cluster. */
class MeasuredServer implements AsyncDisposable {
  readonly #registry = new Registry()
  readonly #process: ProfiledProcess
  readonly #url: string
  readonly #issuer: TestIssuer
  readonly #api: FakeApiServer

  private constructor(parts: {
    process: ProfiledProcess
    url: string
    issuer: TestIssuer
    api: FakeApiServer
    registry: Registry
  }) {
    this.#process = parts.process
    this.#url = parts.url
    this.#issuer = parts.issuer
    this.#api = parts.api
    this.#registry = parts.registry
  }

  static async start(): Promise<MeasuredServer> {
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
    const listening = /"url":"([^"]+)".*"msg":"listening"/
    const [process, url] = await ProfiledProcess.start(['server', ...flags], listening)
    const measured = new MeasuredServer({ process, url, issuer, api, registry })
    await measured.#ready()
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
  async eachTime(act: (name: string) => unknown): Promise<readonly string[]> {
    const one = await this.walk(() => act('one'))
    const other = new Set(await this.walk(() => act('other')))
    return one.filter((file) => other.has(file))
  }

  async walk(act: () => unknown): Promise<readonly string[]> {
    return (await this.#process.walk(act)).files
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]()
    await this.#api.stop()
    this.#issuer.stop()
    this.#registry.remove()
  }
}

/** `depot sync --watch` on a folder with a module of a git repository. */
class MeasuredSync implements AsyncDisposable {
  readonly process: ProfiledProcess
  readonly #registry: Registry
  readonly #upstreams: Upstreams

  private constructor(process: ProfiledProcess, registry: Registry, upstreams: Upstreams) {
    this.process = process
    this.#registry = registry
    this.#upstreams = upstreams
  }

  static async start(): Promise<MeasuredSync> {
    const upstreams = await startUpstreams()
    const registry = new Registry()
    const { manifests, archives, dir } = registry
    const flags = Object.entries({
      '--manifests': manifests,
      '--archives': archives,
      '--spool-dir': join(dir, 'spool'),
    }).flat()
    const args = ['sync', '--watch', ...flags, ...upstreams.flags]
    const [process] = await ProfiledProcess.start(args)
    return new MeasuredSync(process, registry, upstreams)
  }

  /** Pushes a tag, requests a poll as a webhook does, and waits until its version is reported. */
  async tag(version: string): Promise<void> {
    const { git } = this.#upstreams
    const { manifests } = this.#registry
    git.tag('acme/vpc', `v${version}`, { 'main.tf': `# ${version}\n`, 'README.md': '# vpc\n' })
    writeFileSync(join(manifests, 'main.yaml'), depotOf(git.urlOf('acme/vpc'), new Date()))
    while (!isReported(manifests, version)) await sleep(50)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]()
    await this.#upstreams[Symbol.asyncDispose]()
    this.#registry.remove()
  }
}

const depotOf = (url: string, polledAt: Date): string => `
apiVersion: depot.internal/v1alpha1
kind: Depot
metadata:
  name: main
  namespace: team
  annotations: { depot.internal/poll-requested-at: ${polledAt.toISOString()} }
spec:
  global:
    storageConfig: { fileSystem: { directoryPath: modules } }
  moduleConfigs:
    - name: vpc
      provider: aws
      source: { type: git, url: ${url} }
`

/** Whether the status of a module names its latest version, and sync has noted for its next run that the version is stored. */
const isReported = (dir: string, version: string): boolean =>
  [
    ['modules/team/vpc.yaml', `latestVersion: ${version}`],
    ['.depot-removals/stored.json', version],
  ].every(([file = '', text = '']) => {
    const path = join(dir, file)
    return existsSync(path) && readFileSync(path, 'utf8').includes(text)
  })

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

if (import.meta.main) {
  const walks = { ...(await enteredFiles()), 'new tag': (await newTag()).files }
  const [wanted] = process.argv.slice(2)
  for (const [walk, files] of Object.entries(walks)) {
    if (wanted === undefined) console.log(`${walk}: ${files.length} files`)
    else if (walk === wanted) console.log(files.join('\n'))
  }
}
