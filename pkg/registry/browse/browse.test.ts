import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { Errors } from '../../api/browse/browse.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import { compileBinding } from '../access/access.ts'
import type { CallerView } from '../auth/auth.ts'
import { Catalog } from '../catalog/catalog.ts'
import { type BrowseOptions, createBrowse } from './browse.ts'
import { callersSeeing } from './callers.fixture.ts'
import { endpoints } from './endpoints.ts'
import { parsed } from './random-registry.fixture.ts'

const label = { 'depot.internal/public': 'true' }
const s3 = { s3: { bucket: 'archives', region: 'eu-west-1' } }

/** The fields that the tests look at, of any answer. */
interface Body {
  readonly items: readonly { namespace: string; name: string; modules: string[] }[]
  readonly totalCount: number
  readonly counts: readonly object[]
  readonly totalModules: number
  readonly modules: readonly { id: string }[]
  readonly edges: readonly object[]
  readonly summary: { readonly totalModules: number }
  readonly mostDownloaded: readonly object[]
  readonly paths: Record<string, { readonly get: { readonly parameters: readonly object[] } }>
}

interface Made {
  readonly namespace?: string
  readonly labels?: Record<string, string>
  readonly status?: object
  readonly owner?: { readonly kind: string; readonly name: string; readonly uid: string }
}

/** A registry with a public and a private namespace, and in each a public and a private module. */
class Registry {
  readonly catalog = new Catalog()
  #revision = 0

  constructor() {
    this.put('Namespace', 'open', { namespace: '', labels: label })
    this.put('Namespace', 'closed', { namespace: '' })
    this.module('open', 'open', label)
    this.module('open', 'secret', {})
    this.module('closed', 'labelled', label)
    this.module('closed', 'plain', {})
    this.depot('open', 'open', label, ['open', 'secret', 'closed/plain'])
    this.depot('open', 'secret', {}, ['open', 'secret'])
    this.depot('closed', 'labelled', label, ['plain'])
  }

  put(
    kind: string,
    name: string,
    { namespace, labels, owner, ...rest }: Made & { spec?: object; status?: object },
  ): void {
    this.#revision += 1
    const ownerReferences = owner && [{ apiVersion: 'depot.internal/v1alpha1', ...owner }]
    const uid = `${kind} ${name}`
    const raw = { kind, metadata: { name, namespace, labels, uid, ownerReferences }, ...rest }
    this.catalog.apply({ type: 'upsert', resource: parsed(raw, this.#revision) })
  }

  module(namespace: string, name: string, labels: Record<string, string>): void {
    const moduleConfig = { name, storageConfig: s3 }
    this.put('Module', name, { namespace, labels, spec: { moduleConfig } })
    this.put('Version', `${name}-1`, {
      namespace,
      spec: { type: 'Module', version: '1.0.0', fileName: 'a.zip', moduleConfigRef: moduleConfig },
      status: { checksum: 'a'.repeat(64), synced: true, archiveSizeBytes: 100 },
    })
    this.download(namespace, name)
  }

  depot(namespace: string, name: string, labels: Record<string, string>, modules: string[]): void {
    this.put('Depot', name, { namespace, labels, spec: {}, status: { modules } })
  }

  download(namespace: string, name: string, count = 1): void {
    this.catalog.setDownloads([
      { kind: 'Module', namespace, name, version: '1.0.0', count, lastAt: 1_000 },
    ])
  }

  serve(viewOf: () => CallerView, options: Partial<BrowseOptions> = {}) {
    const auth = callersSeeing(viewOf)
    const app = createBrowse({ catalog: this.catalog, auth, ...options }).routes
    app.onError((error) => {
      if (!(error instanceof RegistryError)) throw error
      return Response.json({ errors: [error.message] }, { status: error.status })
    })
    return {
      request: (path: string, init?: RequestInit) => app.request(`/depot/ui/v1${path}`, init),
      json: async (path: string): Promise<Body> =>
        (await app.request(`/depot/ui/v1${path}`)).json() as Promise<Body>,
    }
  }

  as(caller: Caller) {
    if (caller !== 'member') return this.serve(() => caller)
    const binding = compileBinding(
      parsed(
        {
          kind: 'GroupBinding',
          metadata: { name: 'binding' },
          spec: { expression: 'true', moduleResources: ['pl*'] },
        } as Parameters<typeof parsed>[0],
        1,
      ) as Parameters<typeof compileBinding>[0],
    )
    return this.serve(() => binding)
  }
}

type Caller = 'all' | 'public' | 'member'

const addresses = ['open/open', 'open/secret', 'closed/labelled', 'closed/plain']
const seenBy: Record<Caller, readonly string[]> = {
  all: addresses,
  public: ['open/open'],
  member: ['open/open', 'closed/plain'],
}
const depotsOf: Record<Caller, Record<string, readonly string[]>> = {
  all: {
    'closed/labelled': ['plain'],
    'open/open': ['closed/plain', 'open', 'secret'],
    'open/secret': ['open', 'secret'],
  },
  public: { 'open/open': ['open'] },
  member: {
    'closed/labelled': ['plain'],
    'open/open': ['closed/plain', 'open'],
    'open/secret': ['open'],
  },
}

describe.each(['all', 'public', 'member'] as const)('the view %s', (caller) => {
  const seen = seenBy[caller]
  const app = new Registry().as(caller)

  it('lists what the caller may see and counts nothing else', async () => {
    const { items, totalCount } = await app.json('/resources?sort_by=namespace&sort_dir=desc')
    expect(items.map((item) => `${item.namespace}/${item.name}`)).toEqual(seen)
    expect(totalCount).toBe(seen.length)
  })

  it.each(addresses)('answers 404 for %s if the caller may not see it', async (address) => {
    const [namespace, name] = address.split('/')
    for (const rest of ['', '/versions', '/scan-findings']) {
      const { status } = await app.request(`/resources/${namespace}/module/${name}${rest}`)
      expect(status).toBe(seen.includes(address) ? 200 : 404)
    }
  })

  it('answers the same for something hidden and something that does not exist', async () => {
    for (const address of addresses.filter((one) => !seen.includes(one))) {
      const [namespace, name = ''] = address.split('/')
      const hidden = await app.json(`/resources/${namespace}/module/${name}`)
      const absent = await app.json(`/resources/${namespace}/module/nothing`)
      expect(hidden).toEqual(JSON.parse(JSON.stringify(absent).replaceAll('nothing', name)))
    }
  })

  it('lists only public namespaces', async () => {
    expect(await app.json('/namespaces')).toEqual({ items: [{ name: 'open', public: true }] })
  })

  it('shows depots with the names that the caller may see', async () => {
    const { items } = await app.json('/depots')
    const names = items.map((item) => [`${item.namespace}/${item.name}`, item.modules])
    expect(Object.fromEntries(names)).toEqual(depotsOf[caller])
  })

  it('draws no edge to what the caller may not see', async () => {
    const graph = await app.json('/depots/graph')
    const ids = graph.modules.map((module) => module.id.replace('/module', ''))
    expect(ids.every((id) => seen.includes(id))).toBe(true)
    const edges = Object.values(depotsOf[caller]).flat().length
    expect(graph.edges).toHaveLength(edges)
    expect(graph.summary.totalModules).toBe(ids.length)
  })

  it('counts only what the caller may see', async () => {
    const stats = await app.json('/stats')
    expect(stats).toMatchObject({
      totalModules: seen.length,
      totalVersions: seen.length,
      totalStorageBytes: 100 * seen.length,
      totalDownloads: seen.length,
      storageDistribution: [{ backend: 's3', count: seen.length }],
    })
    expect(stats.mostDownloaded).toHaveLength(seen.length)
  })
})

describe('an answer', () => {
  const paths = [
    '/namespaces',
    '/resources',
    '/resources/open/module/open',
    '/resources/open/module/open/versions',
    '/resources/open/module/open/scan-findings',
    '/resources/open/module/open/findings',
    '/depots',
    '/depots/graph',
    '/stats',
    '/openapi.json',
  ]

  it.each(paths)('for %s has an ETag, and clients that have it get 304', async (path) => {
    const app = new Registry().as('public')
    const whole = await app.request(path)
    const etag = whole.headers.get('ETag') ?? ''
    expect(etag).toMatch(/^"[\w-]{20,}"$/)
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await app.request(path, { headers: { 'If-None-Match': tag } })
      expect([again.status, await again.text(), again.headers.get('ETag')]).toEqual([304, '', etag])
    }
    const other = await app.request(path, { headers: { 'If-None-Match': '"other"' } })
    expect(other.status).toBe(200)
    const head = await app.request(path, { method: 'HEAD' })
    expect([head.status, await head.text(), head.headers.get('ETag')]).toEqual([200, '', etag])
  })

  it.each(paths)('for %s does not change with what the caller cannot see', async (path) => {
    const registry = new Registry()
    let hour = 0
    const app = registry.serve(() => 'public', {
      clock: () => ++hour * 3_600_000,
    })
    const before = (await app.request(path)).headers.get('ETag')
    registry.module('open', 'another-secret', {})
    registry.module('closed', 'plain', {})
    registry.depot('closed', 'labelled', label, [])
    registry.download('open', 'secret', 2)
    expect((await app.request(path)).headers.get('ETag')).toBe(before)
  })

  it.each([
    '/resources',
    '/resources/open/module/open',
    '/resources/open/module/open/versions',
    '/stats',
  ])('for %s changes with what the caller can see', async (path) => {
    const registry = new Registry()
    const app = registry.as('public')
    const before = (await app.request(path)).headers.get('ETag')
    registry.download('open', 'open', 2)
    expect((await app.request(path)).headers.get('ETag')).not.toBe(before)
  })

  it('may not be kept by other caches', async () => {
    const { headers } = await new Registry().as('public').request('/resources')
    expect([headers.get('Cache-Control'), headers.get('Vary')]).toEqual([
      'private, no-cache',
      'Authorization, Accept-Encoding',
    ])
  })

  it.each([
    ['a caller with a token', false, { authorization: 'Bearer x' }, 'gzip'],
    ['everybody where everything is open', true, {}, 'gzip'],
    ['nobody without a token elsewhere', false, {}, null],
    ['nobody who does not accept it', true, { 'accept-encoding': 'br, gzip;q=0' }, null],
  ])('is compressed for %s', async (_, isOpen, headers, encoding) => {
    const registry = new Registry()
    for (let n = 0; n < 10; n += 1) registry.module('open', `another-${n}`, label)
    const app = isOpen ? registry.serve(() => 'all', { auth: undefined }) : registry.as('public')
    const asked = { headers: { 'accept-encoding': 'gzip, br', ...headers } }
    const plain = await (await app.request('/resources')).text()
    const answer = await app.request('/resources', asked)
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(answer.headers.get('content-encoding')).toBe(encoding)
    expect(answer.headers.get('content-length')).toBe(String(bytes.length))
    const tag = answer.headers.get('etag') ?? ''
    expect(tag.endsWith('-gzip"')).toBe(encoding === 'gzip')
    expect(String(encoding === 'gzip' ? gunzipSync(bytes) : bytes)).toBe(plain)
    const known = { headers: { ...asked.headers, 'if-none-match': tag } }
    expect((await app.request('/resources', known)).status).toBe(304)
  })

  it('hides a namespace at once when it loses its label', async () => {
    const registry = new Registry()
    const app = registry.as('public')
    expect((await app.json('/resources')).totalCount).toBe(1)
    registry.put('Namespace', 'open', { namespace: '' })
    expect((await app.json('/resources')).totalCount).toBe(0)
    expect((await app.json('/stats')).totalModules).toBe(0)
    expect((await app.json('/depots')).items).toEqual([])
  })

  it('is refused if the caller is refused', async () => {
    const app = new Registry().serve(() => {
      throw new RegistryError('Unauthenticated', 'log in first')
    })
    const response = await app.request('/stats')
    expect([response.status, await response.json()]).toEqual([401, { errors: ['log in first'] }])
  })

  it('has the README of the latest version, as soon as there is one', async () => {
    const registry = new Registry()
    let text: string | undefined
    let revision = 0
    const readmes = {
      get revision() {
        return revision
      },
      get: (...key: string[]) =>
        key.join() === 'open,readme-1,README.md,open-1' ? text : undefined,
    }
    registry.put('Version', 'open-1', {
      namespace: 'open',
      spec: { type: 'Module', version: '1.0.0', moduleConfigRef: { name: 'open' } },
      status: { readmeConfigMapRef: { name: 'readme-1', key: 'README.md' } },
    })
    const app = registry.serve(() => 'public', { readmes })
    const path = '/resources/open/module/open'
    expect(await app.json(path)).not.toHaveProperty('readmeContent')
    text = '# Hello'
    revision += 1
    expect(await app.json(path)).toHaveProperty('readmeContent', '# Hello')
  })
})

it('has the URL of the files of a version in the repository', async () => {
  const registry = new Registry()
  const moduleConfig = {
    repoUrl: 'https://github.com/acme/modules.git',
    source: { type: 'github', path: 'vpc' },
  }
  registry.put('Module', 'vpc', { namespace: 'open', labels: label, spec: { moduleConfig } })
  const put = (version: string, revision: string) =>
    registry.put('Version', `vpc-${version}`, {
      namespace: 'open',
      spec: { type: 'Module', version, moduleConfigRef: { name: 'vpc' } },
      status: { artifact: { revision } },
    })
  put('1.0.0', 'vpc/v1.0.0@sha1:aa')
  put('1.1.0', `sha256:${'0'.repeat(64)}`)
  const app = registry.serve(() => 'public')
  const path = '/resources/open/module/vpc?version='
  expect(await app.json(`${path}1.0.0`)).toHaveProperty(
    'filesUrl',
    'https://github.com/acme/modules/blob/vpc/v1.0.0/vpc/',
  )
  expect(await app.json(`${path}1.1.0`)).not.toHaveProperty('filesUrl')
})

it.each([
  [
    'the repository of a job, and not its subject',
    {
      by: 'repo:acme/vpc:ref:x',
      repository: 'acme/vpc',
      ref: 'refs/tags/v1',
      runUrl: 'https://a.test/1',
    },
    { by: 'acme/vpc', ref: 'refs/tags/v1', runUrl: 'https://a.test/1' },
  ],
  ['a service account', { by: 'system:serviceaccount:ci:bot' }, { by: 'ci/bot' }],
  ['no person', { by: 'ada@example.com', issuer: 'https://login.test' }, {}],
])('says who published a version: %s', async (_, published, told) => {
  const registry = new Registry()
  const at = '2026-11-26T10:00:00Z'
  registry.put('Module', 'vpc', { namespace: 'open', labels: label, spec: { moduleConfig: {} } })
  registry.put('Version', 'vpc-1', {
    namespace: 'open',
    spec: { type: 'Module', version: '1.0.0', moduleConfigRef: { name: 'vpc' } },
    status: { published: { ...published, at } },
  })
  const app = registry.serve(() => 'public')
  const { published: answered } = (await app.json('/resources/open/module/vpc')) as {
    published?: object
  }
  expect(answered).toEqual({ ...told, at })
})

describe('odd input', () => {
  const huge = 'x'.repeat(10_000)
  const numbers = ['', '0', '-1', '1.5', '1e3', 'abc', ' 1', '0x10', '99999999999', 'NaN', huge]
  const flags = ['', 'TRUE', '1', 'yes', 'null', huge]
  const words = ['', huge]
  const resourcesTable: Record<string, readonly string[]> = {
    namespace: words,
    kind: ['', 'Module', 'modules', huge],
    q: words,
    synced: flags,
    os: words,
    arch: words,
    severity: ['', 'high', 'UNKNOWN', huge],
    public_only: flags,
    sort_by: ['', 'size', 'Name', '__proto__', 'constructor', huge],
    sort_dir: ['', 'up', 'ASC', huge],
    page: numbers,
    page_size: numbers,
  }
  const versionsTable = {
    q: words,
    synced: flags,
    os: words,
    arch: words,
    page: numbers,
    page_size: numbers,
  }
  const tables: Record<string, Record<string, readonly string[]>> = {
    '/resources': resourcesTable,
    '/resources/open/module/open/versions': versionsTable,
    '/resources/open/module/open/scan-findings': { version: words, binaryVersion: words },
    '/resources/open/module/open/findings': { version: words, format: words },
    '/depots': { namespace: words },
    '/depots/graph': { namespace: words },
    '/stats': { namespace: words },
  }
  const rows = Object.entries(tables).flatMap(([path, table]) =>
    Object.entries(table).map(([name, values]) => ({ path, name, values })),
  )
  const app = new Registry().as('all')

  it.each(rows)('is refused by $path, naming $name', async ({ path, name, values }) => {
    for (const value of values) {
      const response = await app.request(`${path}?${name}=${encodeURIComponent(value)}`)
      const { errors } = Errors.parse(await response.json())
      expect({ value, status: response.status, named: errors[0]?.split(' ')[0] }).toEqual({
        value,
        status: 400,
        named: name,
      })
      expect(errors[0]?.length).toBeLessThan(300)
    }
  })

  it.each(rows.filter(({ path, name }) => `${path} ${name}` !== '/resources namespace'))(
    'is refused by $path if $name is given twice',
    async ({ path, name }) => {
      const response = await app.request(`${path}?${name}=1&${name}=1`)
      expect([response.status, await response.json()]).toEqual([
        400,
        { errors: [`${name} must be given once`] },
      ])
    },
  )

  it.each(rows)('is ignored by $path if it is not a $name', async ({ path, name }) => {
    const plain = await app.request(path)
    const odd = await app.request(`${path}?${name}x=1&x${name}[]=&%zz=%ff&&=`)
    expect([odd.status, odd.headers.get('ETag')]).toEqual([200, plain.headers.get('ETag')])
  })

  it.each([
    ['/resources/open/thing/open', 400],
    ['/resources/open/Module/open', 400],
    [`/resources/open/module/${huge}`, 400],
    ['/resources/open/module/%zz', 404],
    ['/resources/open/module/__proto__', 404],
    ['/resources/open/module/open/nothing', 404],
    ['/resources/open/module/open/scan-findings?version=9.9.9', 404],
  ] as const)('in a path such as %s is answered %i', async (path, status) => {
    expect((await app.request(path)).status).toBe(status)
  })

  it('with many namespaces matches any of them', async () => {
    const query = Array.from({ length: 500 }, (_, index) => `namespace=n${index}`).join('&')
    expect((await app.json(`/resources?${query}&namespace=open`)).totalCount).toBe(2)
  })

  it('with a page size above 100 gets 100 items, and a page after the last is empty', async () => {
    expect(await app.json('/resources?page_size=5000')).toMatchObject({ pageSize: 100 })
    expect(await app.json('/resources?page=999999999')).toMatchObject({ items: [], totalCount: 4 })
  })
})

it('says that the removal of versions is held, and how to decide', async () => {
  const registry = new Registry()
  const held = (status: string) => ({
    type: 'RemovalHeld',
    status,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    reason: 'RemovalHeld',
    message: '9 of 9 stored versions are not wanted any more: undo the change to keep them',
  })
  for (const [name, state] of Object.entries({ waiting: 'True', decided: 'False' })) {
    registry.put('Module', name, {
      namespace: 'open',
      spec: { moduleConfig: {} },
      status: { conditions: [held(state)] },
    })
  }
  const app = registry.as('all')
  const detail = (name: string) => app.json(`/resources/open/module/${name}`)
  expect(await detail('waiting')).toMatchObject({
    reason: 'RemovalHeld',
    message: expect.stringContaining('depot why open/waiting'),
  })
  expect(await detail('decided')).not.toHaveProperty('reason')
  const { items } = await app.json('/conflicts')
  expect(items.map(({ name }) => name)).not.toContain('waiting')
})

it('says what breaks callers, and that the version is not stored if its module refuses it', async () => {
  const registry = new Registry()
  const compared = {
    from: '1.0.0',
    fromSha256: 'a'.repeat(64),
    verdict: 'breaking',
    reasons: ['input name: Callers must set the new input.'],
  }
  const ready = (reason: string) => [
    { type: 'Ready', status: 'False', lastTransitionTime: '', reason, message: 'for operators' },
  ]
  const storageConfig = { fileSystem: { directoryPath: 'team' } }
  registry.put('Module', 'vpc', { namespace: 'open', spec: { moduleConfig: { storageConfig } } })
  const put = (version: string, status: object) =>
    registry.put('Version', `vpc-${version}`, {
      namespace: 'open',
      spec: { type: 'Module', version, moduleConfigRef: { name: 'vpc' } },
      status,
    })
  const stored = { checksum: 'b'.repeat(64), artifact: { fileName: 'vpc.zip' } }
  put('1.1.0', { ...stored, compared })
  put('1.2.0', { compared, conditions: ready('BreakingChange') })
  put('1.3.0', { compared, conditions: ready('FetchFailed') })
  put('1.4.0', { ...stored, compared: { ...compared, verdict: 'compatible' } })
  const app = registry.as('all')
  const { items } = await app.json('/resources/open/module/vpc/versions')
  const breaks = { from: '1.0.0', reasons: compared.reasons }
  expect(items).toMatchObject([
    { version: '1.4.0' },
    { version: '1.3.0', breaks, reason: 'NoFileName' },
    {
      version: '1.2.0',
      breaks,
      reason: 'BreakingChange',
      message:
        'it breaks callers of 1.0.0: input name: Callers must set the new input. To store it, set spec.acceptBreaking: true on its Version. Otherwise, its publisher has to release it as a new major version',
    },
    { version: '1.1.0', breaks },
  ])
  expect(items[0]).not.toHaveProperty('breaks')
  expect(items[3]).not.toHaveProperty('reason')
})

describe('an object that is not served', () => {
  const registry = new Registry()
  const secondOfOpen = {
    namespace: 'open',
    spec: { type: 'Module', version: '1.0.0', moduleConfigRef: { name: 'open' } },
  }
  registry.put('Version', 'open-1-copy', secondOfOpen)
  registry.put('Module', 'other', {
    namespace: 'open',
    spec: { moduleConfig: { name: 'secret' } },
  })
  registry.put('Version', 'lost', {
    namespace: 'closed',
    spec: { type: 'Module', version: '1.0.0', moduleConfigRef: { name: 'gone' } },
  })
  registry.put('Version', 'bare', {
    namespace: 'closed',
    spec: {
      type: 'Module',
      version: '9.0.0',
      fileName: 'bare.zip',
      moduleConfigRef: { name: 'labelled' },
    },
  })
  registry.put('Version', 'stale', {
    namespace: 'closed',
    owner: { kind: 'Module', name: 'plain', uid: 'of the former one' },
    spec: { type: 'Module', version: '3.0.0' },
  })
  const app = registry.as('all')

  it('is listed with the reason, the remedy, and the object that is served instead', async () => {
    const { items, counts } = await app.json('/conflicts')
    expect(counts).toEqual([
      { reason: 'Duplicate', count: 1 },
      { reason: 'AddressTaken', count: 1 },
      { reason: 'ParentMissing', count: 2 },
      { reason: 'NoDigest', count: 1 },
    ])
    expect(items.slice(0, 4)).toEqual([
      {
        reason: 'Duplicate',
        message: 'duplicate of open-1, which was first: remove one',
        servedInstead: 'open-1',
        kind: 'module',
        namespace: 'open',
        name: 'open-1-copy',
        resource: 'open',
        address: 'open/generic',
        version: '1.0.0',
      },
      {
        reason: 'AddressTaken',
        message:
          'its address secret is that of secret, so it is served as other alone: give it another name in its config',
        servedInstead: 'secret',
        kind: 'module',
        namespace: 'open',
        name: 'other',
        resource: 'other',
        address: 'secret',
      },
      expect.objectContaining({
        name: 'lost',
        message:
          'it has no parent: no Module of its namespace fits it, or several do; set an owner reference',
      }),
      expect.objectContaining({
        name: 'stale',
        message:
          'it has no parent: its owner reference names Module plain, which does not exist or has another uid; correct the reference or remove it',
      }),
    ])
    const { items: versions } = await app.json('/resources/open/module/open/versions')
    expect(versions).toMatchObject([{}, { reason: 'Duplicate' }])
    expect(versions[0]).not.toHaveProperty('reason')
    expect(await app.json('/resources/open/module/other')).toMatchObject({
      reason: 'AddressTaken',
      servedInstead: 'secret',
    })
  })

  it('is reported only to callers who may see it', async () => {
    const { items } = await registry.as('public').json('/conflicts')
    expect(items.map(({ name }) => name)).toEqual(['open-1-copy'])
  })

  it('is explained by address, even if it is pasted from a configuration', async () => {
    for (const address of [
      'open/secret',
      'registry.test/open/secret',
      'localhost:8080/open/secret',
    ]) {
      expect(await app.json(`/explain?address=${encodeURIComponent(address)}`)).toMatchObject({
        claims: [{ name: 'other', reason: 'AddressTaken' }, { name: 'secret' }],
      })
    }
    expect(await app.json('/explain?address=open/open&version=v1.0.0')).toMatchObject({
      claims: [{ name: 'open' }],
      versions: [{ name: 'open-1' }, { name: 'open-1-copy', servedInstead: 'open-1' }],
    })
  })

  it('reports changes of Versions without a parent, which change no resource', async () => {
    const question = '/conflicts?reason=ParentMissing'
    for (const count of [2, 3]) {
      expect(await app.json(question)).toMatchObject({ totalCount: count })
      expect(await app.json(question)).toMatchObject({ totalCount: count })
      registry.put('Version', 'lost-too', {
        namespace: 'closed',
        spec: { type: 'Module', version: '1.0.0', moduleConfigRef: { name: 'gone' } },
      })
    }
  })
})

describe('the document', () => {
  const registry = new Registry()
  const auth = { ...callersSeeing(() => 'all'), publishers: { mayPublish: () => true } }
  const app = registry.serve(() => 'all', { auth })

  it.each(endpoints.map((endpoint) => [endpoint.route, endpoint] as const))(
    'has a valid example for %s',
    (_route, { response, example }) => {
      expect(response.safeParse(example)).toMatchObject({ success: true })
    },
  )

  it.each(
    endpoints
      .filter(({ waitsFor, contentType }) => waitsFor !== 'storage' && contentType === undefined)
      .map((endpoint) => [endpoint.route, endpoint] as const),
  )('documents the shape of the answer to %s', async (route, { response }) => {
    const path = route.replace('{namespace}/{kind}/{name}', 'open/module/open')
    const questions: Readonly<Record<string, string>> = {
      '/explain': '?address=open/open&version=1.0.0',
      '/search': '?q=open',
    }
    const answer = await app.json(`${path}${questions[route] ?? ''}`)
    expect(response.safeParse(answer)).toMatchObject({ success: true })
  })

  it('describes headers, methods, badges, and which parameters are required', async () => {
    const { paths } = (await app.json('/openapi.json')) as unknown as {
      paths: Record<string, { get: { parameters: object[]; responses: Record<string, object> } }>
    }
    const explained = paths['/depot/ui/v1/explain']?.get
    expect(explained?.parameters.slice(0, 2)).toMatchObject([
      { name: 'address', required: true },
      { name: 'version', required: false },
    ])
    expect(explained?.responses).toMatchObject({
      200: { headers: { ETag: {}, 'Cache-Control': {}, Vary: {} } },
      401: { headers: { 'WWW-Authenticate': {} } },
      405: { headers: { Allow: {} } },
      503: { headers: { 'Retry-After': {} } },
    })
    expect(paths).toHaveProperty(['/depot/ui/v1/badges/{namespace}/{kind}/{file}'])
    const refused = await app.request('/explain')
    expect(await refused.text()).toContain('address must be given')
  })

  it('describes every parameter with an example', async () => {
    const { paths } = await app.json('/openapi.json')
    for (const { get } of Object.values(paths)) {
      for (const parameter of get.parameters) {
        expect(parameter).toMatchObject({ description: expect.any(String) })
        expect(parameter).toHaveProperty('example')
      }
    }
  })
})
