import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { GitServer } from '../../../hack/testbed/upstream/git.ts'
import { createUpstreamAuthority } from '../../../hack/testbed/upstream/https-server.ts'
import { UpstreamRegistry } from '../../../hack/testbed/upstream/registry.ts'
import { defaultLimits } from '../../archives/archive/archive.ts'
import { tarGzOf, zipOf } from '../../archives/archive/packed.fixture.ts'
import { unpackDocs, unpackPages } from '../../archives/docs/docs.ts'
import { openArchiveStore } from '../../archives/storage/storage.ts'
import { type LocalSources, localSources } from '../sources/sources.fixture.ts'
import {
  type ImportEvent,
  type ImportOptions,
  importAddress,
  importAll,
  unsignedRemedy,
} from './importing.ts'

const authority = createUpstreamAuthority()
let registry: UpstreamRegistry
let git: GitServer
let local: LocalSources
let dir: string

beforeAll(async () => {
  registry = await UpstreamRegistry.start(authority)
  git = await GitServer.start(authority)
  registry.token = 'sesame'
  const hosts = [registry.host, registry.downloadHost, git.host]
  local = await localSources(authority, hosts, { unsignedRemedy })
  local.secrets.set('platform/import', { token: Buffer.from('sesame') })
  for (const version of ['1.0.0', '1.1.0']) {
    const archive = await tarGzOf([{ path: 'main.tf', content: `# ${version}\n` }])
    registry.addModule({ address: 'acme/vpc/aws', version, archive })
  }
  const executable = { path: 'terraform-provider-dns_v2.0.0', content: 'runs', mode: 0o755 }
  registry.addProvider({
    address: 'acme/dns',
    version: '2.0.0',
    protocols: ['6.0'],
    platforms: {
      linux_amd64: await zipOf([executable]),
      darwin_arm64: await zipOf([executable, { path: 'LICENSE' }]),
    },
  })
})
afterAll(async () => {
  await local.close()
  await git.close()
  await registry.close()
  authority.remove()
})
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'depot-import-'))
  mkdirSync(join(dir, 'archives'))
})
afterEach(() => rmSync(dir, { recursive: true }))

/** Imports, and returns a line for each event. */
async function imported(
  sources: readonly string[],
  options: Partial<ImportOptions> & { readonly onSkipped?: (text: string) => void } = {},
): Promise<string[]> {
  const events: ImportEvent[] = []
  await importAll({
    limits: defaultLimits,
    addresses: sources.map(importAddress),
    sources: local.sources,
    store: openArchiveStore({ filesystemMountPath: join(dir, 'archives') }),
    storage: { fileSystem: { directoryPath: 'archives' } },
    manifestsDir: join(dir, 'manifests'),
    apiGroup: 'depot.internal',
    namespace: 'platform',
    secretName: 'import',
    unsigned: true,
    format: 'tar.gz',
    chosen: () => true,
    dryRun: false,
    parallel: 3,
    workDir: join(dir, 'work'),
    signal: new AbortController().signal,
    onEvent: (event) => events.push(event),
    ...options,
  })
  for (const event of events) {
    if (event.kind === 'skipped') options.onSkipped?.(`${event.what}: ${event.message}`)
  }
  expect(readdirSync(join(dir, 'work'))).toEqual([])
  return events
    .flatMap((event) =>
      event.kind === 'archive'
        ? [[event.outcome, event.label, event.message].filter(Boolean).join(' ')]
        : [],
    )
    .toSorted()
}

const manifest = (path: string): unknown =>
  parse(readFileSync(join(dir, 'manifests/platform', path), 'utf8'))
const storedFiles = () =>
  readdirSync(join(dir, 'archives/archives'), { recursive: true }).map(String).toSorted()
const isDocs = (name: string) => name.endsWith('.docs.json.gz')
const archives = () => storedFiles().filter((name) => !isDocs(name))

describe('another registry', () => {
  it('gives modules and providers for its token, which is sent nowhere else', async () => {
    const sources = [`${registry.host}/acme/vpc/aws`, `${registry.host}/acme/dns`]
    expect(await imported(sources)).toEqual([
      'stored platform/dns 2.0.0 darwin_arm64',
      'stored platform/dns 2.0.0 linux_amd64',
      'stored platform/vpc/aws 1.0.0',
      'stored platform/vpc/aws 1.1.0',
    ])
    expect(registry.leaks).toEqual([])
    expect(manifest('module/vpc-aws.yaml')).toMatchObject({
      kind: 'Module',
      spec: {
        moduleConfig: { name: 'vpc', provider: 'aws' },
        versions: [{ version: '1.0.0' }, { version: '1.1.0' }],
      },
    })
    expect(manifest('provider/dns/dns-2-0-0-linux-amd64.yaml')).toMatchObject({
      kind: 'Version',
      spec: { operatingSystem: 'linux', architecture: 'amd64', protocols: ['6.0'] },
    })
    expect(archives().filter((name) => name.includes('2.0.0'))).toHaveLength(2)
    expect(await imported(sources)).toEqual([
      'present platform/dns 2.0.0 darwin_arm64',
      'present platform/dns 2.0.0 linux_amd64',
      'present platform/vpc/aws 1.0.0',
      'present platform/vpc/aws 1.1.0',
    ])
  })

  it('may list names that are not versions, and addresses in every documented form', async () => {
    git.authorization = undefined
    const commit = git.tag('flow', 'v1.0.0', { 'inner/main.tf': 'locals {}\n' })
    const archive = await tarGzOf([{ path: 'inner/main.tf', content: '# flow\n' }])
    const digest = createHash('sha256').update(archive).digest('hex')
    const wrong = 'f'.repeat(64)
    const file = `https://${registry.downloadHost}/modules/acme-flow-aws-1.0.0.tar.gz`
    const locations = {
      '1.0.0': undefined,
      'v1.1.0': `${file}//inner?archive=tar.gz`,
      '1.2.0': `${file}?checksum=sha256:${digest}`,
      '1.3.0': `git::${git.urlOf('flow')}//inner?ref=v1.0.0`,
      '1.4.0': `git::${git.urlOf('flow')}//inner?ref=${commit}&depth=1`,
      '2.0.0': `${file}?checksum=sha256:${wrong}`,
      '2.1.0': 'github.com/acme/terraform-aws-flow?ref=v2.1.0',
      '2.2.0': 'git@github.com:acme/terraform-aws-flow.git',
      '2.3.0': 'git::ssh://git@example.com/flow.git',
      '2.4.0': 's3::https://s3.amazonaws.com/bucket/flow.zip',
      '2.5.0': 'https://user:secret@example.com/flow.zip',
      '2.6.0': 'http://example.com/flow.zip',
      '2.7.0': 'file:///etc/passwd',
      '2.8.0': '/elsewhere/flow.tar.gz',
      latest: undefined,
      '1.0': undefined,
      ' 1.9.0': undefined,
      '9.9.9\u001b[31m': undefined,
    }
    for (const [version, location] of Object.entries(locations)) {
      registry.addModule({
        address: 'acme/flow/aws',
        version,
        archive,
        ...(location !== undefined && { location }),
      })
    }
    const skipped: string[] = []
    const lines = await imported([`${registry.host}/acme/flow/aws`], {
      retryMs: 1,
      onSkipped: (text) => skipped.push(text),
    })
    expect(skipped).toEqual([
      `4 names of ${registry.host}/acme/flow/aws: not a semantic version, such as 1.2.3`,
    ])
    const outcomes = Object.fromEntries(
      lines.map((line) => {
        const [, outcome = '', version = '', message = ''] =
          /^(\w+) platform\/flow\/aws (\S+) ?(.*)$/.exec(line) ?? []
        return [version, message || outcome]
      }),
    )
    const refused = (why: string) => expect.stringContaining(why) as unknown
    expect(outcomes).toEqual({
      '1.0.0': 'stored',
      '1.1.0': 'stored',
      '1.2.0': 'stored',
      '1.3.0': 'stored',
      '1.4.0': 'stored',
      '2.0.0': refused('does not have the checksum that'),
      '2.1.0': refused('github.com'),
      '2.2.0': refused('ssh'),
      '2.3.0': refused('that is not https'),
      '2.4.0': refused('of the kind "s3"'),
      '2.5.0': refused('with credentials in it'),
      '2.6.0': refused('that is not https'),
      '2.7.0': refused('that is not https'),
      '2.8.0': refused('answered with status 401'),
    })
    expect(lines.join('')).not.toContain('secret')
  })

  it('fails alone if it refuses the token', async () => {
    const folder = join(dir, 'in/acme/net/aws')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'v3.0.0.zip'), await zipOf([{ path: 'main.tf' }]))
    const sources = [`${registry.host}/acme/vpc/aws`, join(dir, 'in')]
    const lines = await imported(sources, { secretName: undefined })
    expect(lines).toEqual([
      expect.stringMatching(/^failed .*\/acme\/vpc\/aws .*401.*the token in DEPOT_IMPORT_TOKEN$/),
      'stored platform/net/aws 3.0.0',
    ])
  })

  it('is refused without signatures if they are required', async () => {
    const lines = await imported([`${registry.host}/acme/dns`], { unsigned: false })
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(
      /^failed platform\/dns 2\.0\.0 darwin_arm64 .*is not signed: add --unsigned to/,
    )
    expect(existsSync(join(dir, 'manifests'))).toBe(false)
  })
})

describe('the tags of a repository', () => {
  it('are versions of the module in a directory', async () => {
    git.tag('monorepo', 'vpc/v1.0.0', { 'vpc/main.tf': 'locals {}\n', 'dns/main.tf': '' })
    git.tag('monorepo', 'dns/v7.0.0', { 'vpc/main.tf': 'locals {}\n', 'dns/main.tf': '' })
    git.authorization = 'Bearer sesame'
    const sources = [`git::${git.urlOf('monorepo')}//vpc`]
    const options = { module: { name: 'vpc', system: 'aws' }, tagPrefix: 'vpc/v' }
    expect(await imported(sources, options)).toEqual(['stored platform/vpc/aws 1.0.0'])
    expect(await imported(sources)).toEqual([
      expect.stringMatching(/^failed git|failed https:.* set --namespace, --name and --system$/),
    ])
  })
})

describe('a folder of archives', () => {
  const put = (path: string, bytes: Buffer | string) => {
    const file = join(dir, 'in', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, bytes)
  }

  it('may hold the output of terraform providers mirror and modules', async () => {
    const zip = await zipOf([{ path: 'terraform-provider-dns_v2.0.0', content: 'runs' }])
    const mirrored = 'registry.example.com/acme/dns/terraform-provider-dns_2.0.0_linux_amd64.zip'
    put(mirrored, zip)
    put('acme/vpc/aws/1.0.0.tar.gz', await tarGzOf([{ path: 'main.tf' }]))
    put('notes.txt', 'text')
    expect(await imported([join(dir, 'in')], { namespace: undefined })).toEqual([
      'stored acme/dns 2.0.0 linux_amd64',
      'stored acme/vpc/aws 1.0.0',
    ])
  })

  it('is stored with its documentation, which the manifest of the Version names', async () => {
    const content = 'variable "cidr" {}'
    put('acme/vpc/aws/1.0.0.tar.gz', await tarGzOf([{ path: 'main.tf', content }]))
    await imported([join(dir, 'in')])
    const [name = ''] = storedFiles().filter(isDocs)
    const bytes = readFileSync(join(dir, 'archives/archives', name))
    const { fileName, docs } = z
      .object({ spec: z.object({ upload: z.object({ fileName: z.string(), docs: z.unknown() }) }) })
      .parse(manifest('module/vpc-aws/vpc-aws-1-0-0.yaml')).spec.upload
    expect(name).toBe(`vpc/${fileName.replace('.tar.gz', '.docs.json.gz')}`)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    expect(docs).toEqual({ sha256, sizeBytes: bytes.length })
    expect((await unpackDocs(bytes)).root.inputs).toMatchObject([{ name: 'cidr' }])
  })

  it('has its README in a ConfigMap, without an owner that a cluster would refuse', async () => {
    const files = [{ path: 'main.tf' }, { path: 'README.md', content: '# VPC' }]
    put('acme/vpc/aws/1.0.0.tar.gz', await tarGzOf(files))
    put('acme/dns/aws/1.0.0.tar.gz', await tarGzOf([{ path: 'main.tf' }]))
    await imported([join(dir, 'in')])
    const { spec, status } = z
      .object({
        spec: z.object({ upload: z.object({ docs: z.object({ sha256: z.string() }) }) }),
        status: z.unknown(),
      })
      .parse(manifest('module/vpc-aws/vpc-aws-1-0-0.yaml'))
    expect(status).toEqual({
      readmeConfigMapRef: { name: 'vpc-aws-1-0-0-readme', key: 'README.md' },
      readmeDocs: spec.upload.docs.sha256,
    })
    expect(manifest('../configmaps/platform/vpc-aws-1-0-0-readme.yaml')).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'vpc-aws-1-0-0-readme',
        namespace: 'platform',
        labels: { 'depot.internal/readme': 'true' },
      },
      data: { 'README.md': Buffer.from('# VPC\n').toString('base64') },
    })
    expect(manifest('module/dns-aws/dns-aws-1-0-0.yaml')).not.toHaveProperty('status')
  })

  it('is stored with the pages that the archive of a provider contains', async () => {
    const zip = await zipOf([
      { path: 'terraform-provider-dns_v2.0.0', content: 'runs' },
      { path: 'docs/resources/record.md', content: '# dns_record' },
    ])
    put('registry.example.com/acme/dns/terraform-provider-dns_2.0.0_linux_amd64.zip', zip)
    await imported([join(dir, 'in')])
    const [name = ''] = storedFiles().filter(isDocs)
    const bytes = readFileSync(join(dir, 'archives/archives', name))
    const { pages } = await unpackPages(bytes)
    expect(pages).toMatchObject([{ page: { category: 'resources', slug: 'record' } }])
    expect(manifest('provider/dns/dns-2-0-0-linux-amd64.yaml')).toMatchObject({
      spec: { upload: { docs: { sizeBytes: bytes.length } } },
    })
  })

  it('may have a version that another folder has: only the first is stored', async () => {
    for (const content of ['first', 'second']) {
      put(`${content}/acme/vpc/aws/1.0.0.tar.gz`, await tarGzOf([{ path: 'main.tf', content }]))
    }
    const sources = ['first', 'second'].map((name) => join(dir, 'in', name))
    expect(await imported(sources)).toEqual([
      'present platform/vpc/aws 1.0.0',
      'stored platform/vpc/aws 1.0.0',
    ])
    expect(archives().filter((name) => name.endsWith('.tar.gz'))).toHaveLength(1)
  })

  it.each([
    ['in plain lines', (line: string) => `${line}\n`],
    ['with the byte order mark of PowerShell and CRLF', (line: string) => `\uFEFF${line}\r\n`],
    ['indented', (line: string) => `  ${line}\n`],
    ['with a no-break space', (line: string) => `${line.replace('  ', '\u00A0')}\n`],
  ])('is checked against its list of checksums %s', async (_, write) => {
    const zip = 'terraform-provider-dns_2.0.0_linux_amd64.zip'
    put(zip, await zipOf([{ path: 'terraform-provider-dns' }]))
    put('terraform-provider-dns_2.0.0_SHA256SUMS', write(`${'0'.repeat(64)}  ${zip}`))
    expect(await imported([join(dir, 'in')])).toEqual([
      expect.stringMatching(/^failed platform\/dns 2\.0\.0 linux_amd64 the archive has SHA-256/),
    ])
  })

  it('is refused if its list of checksums has two digests of it', async () => {
    const zip = 'terraform-provider-dns_2.0.0_linux_amd64.zip'
    put(zip, await zipOf([{ path: 'terraform-provider-dns' }]))
    const lines = ['0', '1'].map((digit) => `${digit.repeat(64)}  ${zip}\n`)
    put('terraform-provider-dns_2.0.0_SHA256SUMS', lines.join(''))
    expect(await imported([join(dir, 'in')])).toEqual([
      expect.stringMatching(/^failed .* SHA256SUMS has two digests of terraform-provider-dns/),
    ])
  })

  it('is imported except for hostile or broken archives', async () => {
    put('acme/bad/aws/1.0.0.zip', await zipOf([{ path: 'main.tf', target: '/etc/passwd' }]))
    put('acme/good/aws/1.0.0.zip', await zipOf([{ path: 'main.tf' }]))
    put('acme/page/aws/1.0.0.zip', '<html>')
    expect(await imported([join(dir, 'in')])).toEqual([
      expect.stringMatching(/^failed platform\/bad\/aws 1\.0\.0 the link "main\.tf" leads/),
      'failed platform/page/aws 1.0.0 this is a web page, not an archive: zip, tar and tar.gz can be read',
      'stored platform/good/aws 1.0.0',
    ])
    expect(archives()).toHaveLength(2)
  })

  it('is imported again if a stored archive is missing or altered', async () => {
    put('acme/vpc/aws/1.0.0.zip', await zipOf([{ path: 'main.tf' }]))
    await imported([join(dir, 'in')])
    const stored = join(
      dir,
      'archives/archives',
      archives().find((name) => name.endsWith('gz')) ?? '',
    )
    rmSync(stored)
    expect(await imported([join(dir, 'in')])).toEqual(['stored platform/vpc/aws 1.0.0'])
    writeFileSync(stored, 'altered')
    expect(await imported([join(dir, 'in')])).toEqual([
      expect.stringMatching(
        /^failed .* differs from the file that was sent: remove it from storage/,
      ),
    ])
  })

  it('fails for modules that are not packed, with the command that packs them', async () => {
    put('acme/vpc/aws/1.0.0.zip', await zipOf([{ path: 'main.tf' }]))
    put('acme/dns/aws/1.1.0/main.tf', 'locals {}\n')
    put('acme/dns/aws/1.1.0/modules/zone/main.tf', 'locals {}\n')
    put('checkout/main.tofu', 'locals {}\n')
    put('acme/.terraform/modules/other/main.tf', 'locals {}\n')
    const at = (path: string) => join(dir, 'in', path)
    const found = await imported([join(dir, 'in')])
    expect(found).toEqual([
      `failed ${at('acme/dns/aws/1.1.0')} the module is not packed: tar -czf ${at('acme/dns/aws/1.1.0')}.tar.gz -C ${at('acme/dns/aws/1.1.0')} .`,
      `failed ${at('checkout')} the module is not packed: tar -czf ${at('NAMESPACE/NAME/SYSTEM/VERSION')}.tar.gz -C ${at('checkout')} .`,
      'stored platform/vpc/aws 1.0.0',
    ])
  })

  it('is refused if it holds no archive', async () => {
    put('notes.txt', 'text')
    expect(await imported([join(dir, 'in')])).toEqual([
      expect.stringMatching(
        /^failed .*\/in the folder holds no archive; expected NAMESPACE\/NAME\/SYSTEM/,
      ),
    ])
  })

  it('gives different names to similar addresses', async () => {
    const archive = await zipOf([{ path: 'main.tf' }])
    const modules = ['vpc-flow/aws', 'vpc/flow-aws', 'vpc_flow/aws']
    for (const module of modules) put(`acme/${module}/1.0.0.zip`, archive)
    for (const version of ['1.0.0-a.b', '1.0.0-a-b', '1.0.0-A.b', '1.0.0+a', '1.0.0+A']) {
      put(`acme/vpc-flow/aws/${version}.zip`, archive)
    }
    const [stored, present] = [await imported([join(dir, 'in')]), await imported([join(dir, 'in')])]
    expect(stored.map((line) => line.replace(/ .*/, ''))).toEqual(Array(8).fill('stored'))
    expect(present).toEqual(stored.map((line) => line.replace('stored', 'present')))
    const versions = readdirSync(join(dir, 'manifests/platform/module'), { recursive: true })
    expect(versions.filter((path) => String(path).includes('/'))).toHaveLength(8)
    expect(manifest('module/vpc-flow-aws.yaml')).toMatchObject({
      spec: { moduleConfig: { name: 'vpc-flow', provider: 'aws' }, versions: { length: 6 } },
    })
  })

  it('adds versions to a Module that people edited, and changes nothing else', async () => {
    put('acme/vpc/aws/1.0.0.zip', await zipOf([{ path: 'main.tf' }]))
    await imported([join(dir, 'in')])
    const file = join(dir, 'manifests/platform/module/vpc-aws.yaml')
    const before = readFileSync(file, 'utf8')
    const written = before
      .replace('metadata:', '# Ours.\nmetadata:\n  labels: { team: network } # who')
      .replace('spec:', 'spec:\n  suspend: true')
    writeFileSync(file, written)
    await imported([join(dir, 'in')])
    expect(readFileSync(file, 'utf8')).toBe(written)
    put('acme/vpc/aws/1.1.0.zip', await zipOf([{ path: 'main.tf' }]))
    await imported([join(dir, 'in')])
    const after = readFileSync(file, 'utf8')
    expect(after).toContain('# Ours.\nmetadata:\n  labels: { team: network } # who')
    expect(parse(after)).toMatchObject({
      spec: { suspend: true, versions: [{ version: '1.0.0' }, { version: '1.1.0' }] },
    })
    writeFileSync(file, 'spec: [')
    expect(await imported([join(dir, 'in')])).toEqual(
      Array(2).fill(
        expect.stringMatching(/vpc-aws\.yaml is not valid YAML: .*; correct or remove it$/),
      ),
    )
    expect(readFileSync(file, 'utf8')).toBe('spec: [')
  })

  it('is listed in its Module again if the Module was deleted', async () => {
    for (const version of ['1.0.0', '1.1.0']) {
      put(`acme/vpc/aws/${version}.zip`, await zipOf([{ path: 'main.tf' }]))
    }
    await imported([join(dir, 'in')])
    rmSync(join(dir, 'manifests/platform/module/vpc-aws.yaml'))
    expect(await imported([join(dir, 'in')])).toEqual([
      'present platform/vpc/aws 1.0.0',
      'present platform/vpc/aws 1.1.0',
    ])
    expect(manifest('module/vpc-aws.yaml')).toMatchObject({
      spec: { versions: [{ version: '1.0.0' }, { version: '1.1.0' }] },
    })
  })

  describe('after an earlier import', () => {
    const stored = async (path: string) => {
      put(`acme/${path}.zip`, await zipOf([{ path: 'main.tf' }]))
      return imported([join(dir, 'in')])
    }
    const file = (path: string) => join(dir, 'manifests/platform', path)
    const edit = (path: string, ...edits: readonly [string | RegExp, string][]) => {
      const before = readFileSync(file(path), 'utf8')
      const after = edits.reduce((text, [from, to]) => text.replace(from, to), before)
      expect(after).not.toBe(before)
      writeFileSync(file(path), after)
      return after
    }
    const move = (from: string, to: string) => {
      mkdirSync(dirname(file(to)), { recursive: true })
      renameSync(file(from), file(to))
    }
    const named = (text: string) => new RegExp(`${text}-[0-9a-f]{8}\\.yaml$`)
    const files = () =>
      readdirSync(file('module'), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.yaml'))
        .toSorted()

    it('does not overwrite a Version with the same name', async () => {
      const folder = 'module/vpc-aws'
      await stored('vpc/aws/1.0.0-rc-1')
      const [digest = ''] = readdirSync(file(folder))
      // The name that early imports gave.
      move(`${folder}/${digest}`, `${folder}/vpc-aws-1-0-0-rc-1.yaml`)
      const before = edit(`${folder}/vpc-aws-1-0-0-rc-1.yaml`, [
        digest.replace('.yaml', ''),
        'vpc-aws-1-0-0-rc-1',
      ])
      const lines = ['stored platform/vpc/aws 1.0.0-rc.1', 'present platform/vpc/aws 1.0.0-rc-1']
      expect(await stored('vpc/aws/1.0.0-rc.1')).toEqual(lines.toSorted())
      expect(readFileSync(file(`${folder}/vpc-aws-1-0-0-rc-1.yaml`), 'utf8')).toBe(before)
      const [, other = ''] = readdirSync(file(folder)).toSorted().toReversed()
      expect(other).toMatch(named('vpc-aws-1-0-0-rc-1'))
      expect(manifest(`${folder}/${other}`)).toMatchObject({
        metadata: { name: other.replace('.yaml', '') },
        spec: { version: '1.0.0-rc.1' },
      })
      expect(await imported([join(dir, 'in')])).toEqual(
        lines.map((line) => line.replace('stored', 'present')).toSorted(),
      )
    })

    it('does not overwrite Versions that people wrote, and names their mistakes', async () => {
      const version = 'module/vpc-aws/vpc-aws-1-0-0.yaml'
      const text = 'kind: Version\nspec: { type: Module, version: v1.0.0 } # Ours.\n'
      mkdirSync(dirname(file(version)), { recursive: true })
      writeFileSync(file(version), text)
      expect(await stored('vpc/aws/1.0.0')).toEqual([
        expect.stringMatching(
          /vpc-aws-1-0-0\.yaml does not name the stored archive, expected spec\.upload/,
        ),
      ])
      const another = text.replace('v1.0.0', '9.0.0')
      writeFileSync(file(version), another)
      expect(await imported([join(dir, 'in')])).toEqual(['stored platform/vpc/aws 1.0.0'])
      const [second = ''] = files().filter((path) => named('vpc-aws-1-0-0').test(path))
      writeFileSync(file(`module/${second}`), another)
      expect(await imported([join(dir, 'in')])).toEqual([
        expect.stringMatching(/is another Version, expected platform\/vpc\/aws 1\.0\.0 or no file/),
      ])
      expect(readFileSync(file(version), 'utf8')).toBe(another)
    })

    it('does not confuse Modules with similar names', async () => {
      await stored('vpc_flow/aws/1.0.0')
      const [parent = '', version = ''] = files().toSorted((a, b) => a.length - b.length)
      move(`module/${parent}`, 'module/vpc-flow-aws.yaml')
      move(`module/${version}`, 'module/vpc-flow-aws/vpc-flow-aws-1-0-0.yaml')
      const before = edit('module/vpc-flow-aws.yaml', [
        /name: vpc-flow-aws-\w+/,
        'name: vpc-flow-aws',
      ])
      expect(await stored('vpc-flow/aws/1.0.0')).toEqual([
        'present platform/vpc_flow/aws 1.0.0',
        'stored platform/vpc-flow/aws 1.0.0',
      ])
      expect(readFileSync(file('module/vpc-flow-aws.yaml'), 'utf8')).toBe(before)
      const [own = ''] = files().filter((path) => named('vpc-flow-aws').test(path))
      expect(manifest(`module/${own}`)).toMatchObject({
        metadata: { name: own.replace('.yaml', '') },
        spec: { moduleConfig: { name: 'vpc-flow' }, versions: [{ version: '1.0.0' }] },
      })
      // Versions of two Modules need different names, too.
      const names = files().map(
        (path) => (manifest(`module/${path}`) as { metadata: { name: string } }).metadata.name,
      )
      expect(new Set(names).size).toBe(4)
      expect(await stored('vpc-flow/aws/1.1.0')).toEqual([
        'present platform/vpc-flow/aws 1.0.0',
        'present platform/vpc_flow/aws 1.0.0',
        'stored platform/vpc-flow/aws 1.1.0',
      ])
    })

    it('keeps the versions of a Module as people wrote them', async () => {
      await stored('vpc/aws/1.0.0')
      await stored('vpc/aws/1.2.0')
      edit('module/vpc-aws.yaml', [
        '- version: 1.0.0',
        '- version: v1.0.0 # first\n      name: old\n      fileName: old.zip\n      synced: true',
      ])
      await stored('vpc/aws/1.1.0')
      const text = readFileSync(file('module/vpc-aws.yaml'), 'utf8')
      expect(text).toContain('- version: v1.0.0 # first')
      const versions = [
        { version: 'v1.0.0', name: 'old', fileName: 'old.zip', synced: true },
        { version: '1.1.0' },
        { version: '1.2.0' },
      ]
      expect(parse(text)).toMatchObject({ spec: { versions } })
      rmSync(file('module/vpc-aws/vpc-aws-1-0-0.yaml'))
      await imported([join(dir, 'in')])
      expect(readFileSync(file('module/vpc-aws.yaml'), 'utf8')).toBe(text)
    })

    it('does not add versions that people removed from a Module', async () => {
      await stored('vpc/aws/1.0.0')
      await stored('vpc/aws/1.1.0')
      const text = edit('module/vpc-aws.yaml', [/ *- version: 1\.0\.0\n/, ''])
      expect(await imported([join(dir, 'in')])).toHaveLength(2)
      expect(readFileSync(file('module/vpc-aws.yaml'), 'utf8')).toBe(text)
      rmSync(join(dir, 'archives/archives'), { recursive: true })
      expect(await imported([join(dir, 'in')])).toEqual([
        'stored platform/vpc/aws 1.0.0',
        'stored platform/vpc/aws 1.1.0',
      ])
      expect(readFileSync(file('module/vpc-aws.yaml'), 'utf8')).toBe(text)
    })

    it('imports a version again that has no Version object', async () => {
      await stored('vpc/aws/1.0.0')
      const before = files()
      rmSync(file('module/vpc-aws/vpc-aws-1-0-0.yaml'))
      expect(await imported([join(dir, 'in')])).toEqual(['stored platform/vpc/aws 1.0.0'])
      expect(files()).toEqual(before)
    })
  })

  it('leaves nothing behind after a dry run', async () => {
    put('acme/vpc/aws/1.0.0.zip', await zipOf([{ path: 'main.tf' }]))
    expect(await imported([join(dir, 'in')], { dryRun: true })).toEqual([
      'planned platform/vpc/aws 1.0.0',
    ])
    expect(readdirSync(dir).toSorted()).toEqual(['archives', 'in', 'work'])
  })
})
