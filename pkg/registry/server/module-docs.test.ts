import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { VersionDocs } from '../../api/browse/browse.ts'
import { emptyRoot, ModuleComparison, type ModuleDocs } from '../../api/docs/docs.ts'
import { docsFileName } from '../../api/v1alpha1/v1alpha1.ts'
import { AccessFixture } from './access.fixture.ts'
import type { Fixture } from './registry.fixture.ts'

let fixture: AccessFixture
beforeEach(() => {
  fixture = new AccessFixture()
  fixture.module('vpc')
})
afterEach(() => fixture[Symbol.dispose]())

const folder = (path: string, readme: string) => ({ ...emptyRoot, path, readme })
const plainInput = { sensitive: false, nullable: true, ephemeral: false, validations: [] }
const docsOf = (text: string): ModuleDocs => ({
  schema: 1,
  root: folder('', text),
  submodules: [folder('modules/subnet', 'Subnets')],
  examples: [],
})
const packed = (docs: unknown) => gzipSync(JSON.stringify(docs))
const hex = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Adds a version with documentation. @returns the path of the documentation */
function documented(
  registry: Fixture,
  version: string,
  bytes: Buffer,
  digest = hex(bytes),
): string {
  const docs = { sha256: digest, sizeBytes: bytes.length }
  const content = `archive ${version}`
  const sha256 = hex(Buffer.from(content))
  const fileName = `vpc_${version}.zip`
  registry.version('Module', 'vpc', version, { content, status: { artifact: { fileName, docs } } })
  const path = join('modules/vpc', docsFileName(fileName, sha256))
  registry.write(path, bytes)
  return path
}

const url = '/depot/ui/v1/resources/platform/module/vpc/docs'

describe('GET …/docs', () => {
  const ask = async (target = url) => {
    const response = await fixture.app().request(target)
    const body: unknown = await response.json()
    return { status: response.status, body }
  }
  const refused = async (target?: string) => {
    const { status, body } = await ask(target)
    return { status, message: (body as { errors: string[] }).errors[0] }
  }

  it('answers with the documentation of the latest version, or of a given one', async () => {
    documented(fixture, '1.0.0', packed(docsOf('one')))
    documented(fixture, '1.1.0', packed(docsOf('two')))
    const latest = { address: 'vpc/aws', version: '1.1.0', ...docsOf('two') }
    expect(await ask()).toEqual({ status: 200, body: latest })
    expect(VersionDocs.parse(latest)).toEqual(latest)
    expect(await ask(`${url}?version=v1.0.0`)).toMatchObject({
      body: { version: '1.0.0', root: { readme: 'one' } },
    })
  })

  it.each(['1.0.0+build.1', '1.0.0%2Bbuild.1', 'v1.0.0+build.1'])(
    'finds a version with build metadata by %s',
    async (version) => {
      documented(fixture, '1.0.0+build.1', packed(docsOf('one')))
      expect(await ask(`${url}?version=${version}`)).toMatchObject({
        body: { version: '1.0.0+build.1' },
      })
    },
  )

  it('answers with documentation that storage gives in many pieces', async () => {
    const readme = randomBytes(1_500_000).toString('base64')
    documented(fixture, '1.0.0', packed(docsOf(readme)))
    const { status, body } = await ask()
    expect(status).toBe(200)
    expect((body as ModuleDocs).root.readme === readme).toBe(true)
  })

  it('is announced by the answer of the module, for each version that has documentation', async () => {
    documented(fixture, '1.0.0', packed(docsOf('one')))
    fixture.version('Module', 'vpc', '1.1.0', { content: 'archive' })
    const detail = url.replace('/docs', '')
    expect((await ask(detail)).body).not.toHaveProperty('hasDocs')
    expect((await ask(`${detail}?version=1.0.0`)).body).toHaveProperty('hasDocs', true)
  })

  it('reads storage once, answers with an ETag, and follows a change of the version', async () => {
    const path = documented(fixture, '1.0.0', packed(docsOf('one')))
    const app = fixture.app()
    const first = await app.request(url)
    const etag = first.headers.get('ETag') ?? ''
    fixture.write(path, 'gone')
    const again = await app.request(url, { headers: { 'If-None-Match': etag } })
    expect(again.status).toBe(304)
    documented(fixture, '1.0.0', packed(docsOf('corrected')))
    expect(await (await app.request(url)).json()).toMatchObject({ root: { readme: 'corrected' } })
  })

  it.each([
    ['a version without documentation', url, 'version 1.0.0 of module platform/vpc has no doc'],
    ['an unknown version', `${url}?version=9.9.9`, 'has no version 9.9.9'],
    ['a provider', url.replace('module/vpc', 'provider/dns'), 'only modules have'],
    ['an unknown module', url.replace('vpc', 'none'), 'module platform/none not found'],
  ])('is 404 for %s', async (_, target, message) => {
    fixture.version('Module', 'vpc', '1.0.0')
    fixture.provider('dns')
    const spec = { operatingSystem: 'linux', architecture: 'amd64' }
    fixture.version('Provider', 'dns', '1.0.0', { spec })
    expect(await refused(target)).toMatchObject({
      status: 404,
      message: expect.stringContaining(message) as string,
    })
  })

  it('is 404 with the remedy if storage has lost it', async () => {
    const bytes = packed(docsOf('one'))
    documented(fixture, '1.0.0', bytes)
    const docs = { sha256: '0'.repeat(64), sizeBytes: 1 }
    const artifact = { fileName: 'vpc_1.1.0.zip', docs }
    fixture.version('Module', 'vpc', '1.1.0', { status: { artifact } })
    expect(await refused()).toMatchObject({
      status: 404,
      message: expect.stringMatching(/is not in storage: depot sync .* make it again/) as string,
    })
  })

  it.each([
    ['is not compressed JSON', Buffer.from('text'), undefined],
    ['is not documentation', packed({ schema: 1 }), undefined],
    ['unpacks to more than 8 MiB', packed('a'.repeat(9 * 2 ** 20)), undefined],
    ['has more than 8 MiB', Buffer.alloc(9 * 2 ** 20), undefined],
    ['has another digest than the Version says', packed(docsOf('one')), '0'.repeat(64)],
  ])('is 502 if the stored object %s', async (_, bytes, digest) => {
    documented(fixture, '1.0.0', bytes, digest)
    expect((await refused()).status).toBe(502)
  })

  it('answers each version with its own address, even if two have the same documentation', async () => {
    documented(fixture, '1.0.0', packed(docsOf('same')))
    documented(fixture, '1.1.0', packed(docsOf('same')))
    for (const version of ['1.0.0', '1.1.0', '1.0.0']) {
      expect((await ask(`${url}?version=${version}`)).body).toEqual({
        address: 'vpc/aws',
        version,
        ...docsOf('same'),
      })
    }
  })

  it('answers with documentation that another program wrote with line breaks', async () => {
    documented(fixture, '1.0.0', gzipSync(`\n${JSON.stringify(docsOf('one'), null, 2)}\n`))
    expect(await ask()).toMatchObject({ status: 200, body: { version: '1.0.0', schema: 1 } })
  })

  it('answers many callers at once', async () => {
    documented(fixture, '1.0.0', packed(docsOf('a'.repeat(2 ** 20))))
    const app = fixture.app()
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => app.request(`${url}?n=${index}`)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  })

  it('answers 404 to a stranger for a module that is not public', async () => {
    documented(fixture, '1.0.0', packed(docsOf('one')))
    fixture.publicNamespace('platform')
    const cluster = {
      apiGroup: 'depot.internal',
      address: () => Promise.reject(new Error('no caller is known to it')),
      ttlMs: 1000,
    }
    const auth = fixture.auth({ mode: 'bearer', cluster })
    const response = await fixture.app({ auth }).request(url)
    await auth.close()
    expect(response.status).toBe(404)
  })
})

describe('a module in the form of the public registry', () => {
  const docs: ModuleDocs = {
    schema: 1,
    root: {
      ...folder('', '# VPC'),
      description: 'A network.',
      inputs: [
        { ...plainInput, name: 'cidr', type: 'string', required: true },
        { ...plainInput, name: 'tags', default: {}, required: false },
        { ...plainInput, name: 'zone', default: null, required: false },
      ],
      outputs: [{ name: 'id', description: 'The id.', sensitive: false, ephemeral: false }],
      providers: [
        { name: 'aws', source: 'hashicorp/aws', version: '~> 6.0', aliases: [] },
        { name: 'random', aliases: [] },
      ],
      resources: [
        { mode: 'managed', type: 'aws_vpc', name: 'this' },
        { mode: 'data', type: 'aws_ami', name: 'this' },
      ],
      modules: [{ name: 'label', source: 'cloudposse/label/null', version: '0.25.0' }],
    },
    submodules: [folder('modules/subnet', 'Subnets')],
    examples: [],
  }
  const ask = async (path: string) => {
    const response = await fixture.app().request(`/v1/modules/${path}`)
    const body: unknown = await response.json()
    return { status: response.status, body }
  }

  it('has inputs, outputs, dependencies and resources', async () => {
    documented(fixture, '1.0.0', packed(docs))
    documented(fixture, '1.1.0', packed(docs))
    const { status, body } = await ask('platform/vpc/aws/1.0.0')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: 'platform/vpc/aws/1.0.0',
      provider: 'aws',
      description: 'A network.',
      versions: ['1.1.0', '1.0.0'],
      root: {
        path: '',
        readme: '# VPC',
        empty: false,
        inputs: [
          { name: 'cidr', type: 'string', description: '', default: '', required: true },
          { name: 'tags', type: 'any', description: '', default: '{}', required: false },
          { name: 'zone', type: 'any', description: '', default: 'null', required: false },
        ],
        outputs: [{ name: 'id', description: 'The id.' }],
        dependencies: [{ name: 'label', source: 'cloudposse/label/null', version: '0.25.0' }],
        provider_dependencies: [
          { name: 'aws', namespace: 'hashicorp', source: 'hashicorp/aws', version: '~> 6.0' },
          { name: 'random', namespace: 'hashicorp', source: 'hashicorp/random', version: '' },
        ],
        resources: [{ name: 'this', type: 'aws_vpc' }],
      },
      submodules: [{ path: 'modules/subnet', name: 'subnet', readme: 'Subnets' }],
      examples: [],
    })
    expect(await ask('platform/vpc/aws')).toMatchObject({ body: { version: '1.1.0' } })
  })

  it('has an empty root if the version has no documentation', async () => {
    fixture.version('Module', 'vpc', '1.0.0')
    expect(await ask('platform/vpc/aws')).toMatchObject({
      status: 200,
      body: { version: '1.0.0', root: { empty: true, inputs: [] }, submodules: [] },
    })
  })

  it('is downloaded in its latest version if none is named', async () => {
    for (const version of ['1.0.0', '1.1.0+build']) fixture.version('Module', 'vpc', version)
    const asked = 'http://registry.test/v1/modules/platform/vpc/aws/download'
    const { status, headers } = await fixture.app().request(asked)
    expect(status).toBe(302)
    const target = new URL(headers.get('location') ?? '', asked).href
    expect(target).toBe('http://registry.test/v1/modules/platform/vpc/aws/1.1.0%2Bbuild/download')
    expect((await fixture.app().request(target)).headers.get('x-terraform-get')).toMatch(/1\.1\.0/)
  })

  it.each([
    'platform/vpc/aws',
    'platform/vpc/aws/download',
    'platform/vpc/aws/9.9.9',
    'platform/none/aws',
  ])('is 404 for %s, which does not exist', async (path) =>
    expect((await ask(path)).status).toBe(404),
  )
})

describe('GET …/compare', () => {
  const compareUrl = url.replace(/docs$/, 'compare')
  const ask = async (query = '') => {
    const response = await fixture.app().request(compareUrl + query)
    return { status: response.status, body: await response.json() }
  }
  const withOutputs = (names: readonly string[]): ModuleDocs => ({
    ...docsOf('text'),
    root: {
      ...folder('', 'text'),
      outputs: names.map((name) => ({ name, sensitive: false, ephemeral: false })),
    },
  })

  it('compares the latest version with the previous one, or two given ones', async () => {
    documented(fixture, '1.0.0', packed(withOutputs([])))
    documented(fixture, '1.9.0', packed(withOutputs(['id'])))
    documented(fixture, '1.10.0', packed(withOutputs([])))
    const latest = await ask()
    expect(latest).toMatchObject({
      status: 200,
      body: {
        from: '1.9.0',
        to: '1.10.0',
        verdict: 'breaking',
        changes: [{ kind: 'output', name: 'id', verdict: 'breaking' }],
      },
    })
    expect(ModuleComparison.parse(latest.body)).toEqual(latest.body)
    const compatible = { from: '1.0.0', to: '1.9.0', verdict: 'compatible' }
    expect(await ask('?to=v1.9.0')).toMatchObject({ body: compatible })
    expect(await ask('?from=v1.0.0&to=1.9.0')).toMatchObject({ body: compatible })
  })

  it('compares a release with the previous release that has documentation', async () => {
    documented(fixture, '1.9.0', packed(withOutputs(['id'])))
    fixture.version('Module', 'vpc', '1.9.1', { content: 'archive 1.9.1' })
    documented(fixture, '2.0.0-rc.1', packed(withOutputs([])))
    documented(fixture, '2.0.0', packed(withOutputs([])))
    const body = { from: '1.9.0', to: '2.0.0', verdict: 'breaking' }
    expect(await ask()).toMatchObject({ status: 200, body })
    expect(await ask('?to=2.0.0-rc.1')).toMatchObject({ body: { from: '1.9.0' } })
  })

  it('finds no change between a version and itself', async () => {
    documented(fixture, '1.0.0', packed(withOutputs(['id'])))
    expect(await ask('?from=1.0.0')).toMatchObject({
      status: 200,
      body: { verdict: 'compatible', changes: [], readme: 'same', dependencies: [] },
    })
  })

  it('cannot decide about a version that could not be parsed, and says why', async () => {
    const docs = withOutputs([])
    const error = { file: 'main.tf', line: 7, message: 'Unclosed block' }
    documented(fixture, '1.0.0', packed(docs))
    documented(fixture, '1.1.0', packed({ ...docs, root: { ...docs.root, error } }))
    expect(await ask()).toMatchObject({
      body: {
        verdict: 'unknown',
        changes: [{ kind: 'parser', why: expect.stringContaining('Unclosed block') as string }],
      },
    })
  })

  it('answers with an ETag until a version changes', async () => {
    documented(fixture, '1.0.0', packed(withOutputs(['id'])))
    documented(fixture, '1.1.0', packed(withOutputs(['id'])))
    const app = fixture.app()
    const etag = (await app.request(compareUrl)).headers.get('ETag') ?? ''
    const again = await app.request(compareUrl, { headers: { 'If-None-Match': etag } })
    expect(again.status).toBe(304)
    documented(fixture, '1.0.0', packed(withOutputs(['id', 'arn'])))
    const changed = await app.request(compareUrl, { headers: { 'If-None-Match': etag } })
    expect(await changed.json()).toMatchObject({ verdict: 'breaking' })
  })

  it.each([
    ['an unknown earlier version', '?from=9.9.9', 'has no version 9.9.9'],
    ['an unknown later version', '?to=9.9.9', 'has no version 9.9.9'],
    ['the oldest version', '?to=1.0.0', 'no version before 1.0.0: choose one with ?from='],
    ['a version without documentation', '', 'version 1.1.0 of module platform/vpc has no doc'],
  ])('is 404 for %s', async (_, query, message) => {
    documented(fixture, '1.0.0', packed(withOutputs([])))
    fixture.version('Module', 'vpc', '1.1.0')
    expect(await ask(query)).toMatchObject({
      status: 404,
      body: { errors: [expect.stringContaining(message)] },
    })
  })
})
