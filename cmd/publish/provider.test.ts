import { hash } from 'node:crypto'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { parse } from 'yaml'
import { runProgram } from '../../hack/testbed/program/program.ts'
import { zipOf } from '../../pkg/archives/archive/packed.fixture.ts'
import { generateSigningKey } from '../../pkg/archives/signing/signing.ts'
import { fingerprints, put } from '../import/import.fixture.ts'
import { runPublish } from './publish.fixture.ts'

const root = mkdtempSync(join(tmpdir(), 'depot-publish-provider-'))
afterAll(() => rmSync(root, { recursive: true }))
let dir = ''
let count = 0
beforeEach(async () => {
  dir = join(root, String(++count))
  await release('1.0.0', ['linux_amd64', 'darwin_arm64'])
})

const stemOf = (version: string) => join(dir, `dist/terraform-provider-cmdb_${version}`)

/** Builds zips and their checksums, as GoReleaser does. */
async function release(version: string, platforms: readonly string[], content = version) {
  const stem = stemOf(version)
  const sums: string[] = []
  for (const platform of platforms) {
    const zip = await zipOf([
      { path: `terraform-provider-cmdb_v${version}`, content: `${content} ${platform}` },
      { path: 'docs/index.md', content: '# cmdb\n' },
    ])
    put(`${stem}_${platform}.zip`, zip)
    sums.push(`${hash('sha256', zip)}  terraform-provider-cmdb_${version}_${platform}.zip\n`)
  }
  put(`${stem}_SHA256SUMS`, sums.join(''))
  put(`${stem}_manifest.json`, '{"version": 1, "metadata": {"protocol_versions": ["6.0"]}}')
}

const publish = (...more: readonly string[]) =>
  runPublish(dir, [
    'provider',
    'dist',
    '--to',
    'platform/cmdb',
    '--direct',
    '--manifests',
    'registry',
    ...more,
  ])

interface Written {
  readonly spec: {
    readonly version: string
    readonly operatingSystem: string
    readonly protocols: readonly string[]
    readonly upload: { readonly fileName: string; readonly sha256: string }
  }
}
const written = (): Written['spec'][] =>
  globSync(join(dir, 'registry/versions/platform/*.yaml')).map(
    (file) => (parse(readFileSync(file, 'utf8')) as Written).spec,
  )

it('publishes every platform of a release, and nothing when it runs again', async () => {
  const { status, stdout, stderr } = await publish()
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('platform/cmdb 1.0.0, a new provider\nplatforms: 2\n')
  expect(written().map(({ operatingSystem }) => operatingSystem)).toEqual(['darwin', 'linux'])
  for (const { upload, protocols } of written()) {
    const bytes = readFileSync(join(dir, 'archives/archives/cmdb', upload.fileName))
    expect(hash('sha256', bytes)).toBe(upload.sha256)
    expect(protocols).toEqual(['6.0'])
  }
  expect((await runProgram(dir, ['lint', 'registry', '--archives', 'archives'])).status).toBe(0)
  const before = fingerprints(join(dir, 'registry/versions'))
  const again = await publish('-o', 'json')
  expect(JSON.parse(again.stdout)).toMatchObject({
    outcome: 'exists',
    archives: [
      { os: 'darwin', published: true },
      { os: 'linux', published: true },
    ],
  })
  expect(fingerprints(join(dir, 'registry/versions'))).toEqual(before)
})

it('adds the platforms that a version lacks, as after a kill', async () => {
  await publish()
  const [darwin = ''] = globSync(join(dir, 'registry/versions/platform/*darwin*'))
  rmSync(darwin)
  expect((await publish('--dry-run')).stdout).toMatch(/linux_amd64: .*, published\nit would be/)
  expect((await publish()).status).toBe(0)
  expect(written()).toHaveLength(2)
})

it('creates a removed Provider again if its versions still exist', async () => {
  await publish()
  const [provider = ''] = globSync(join(dir, 'registry/providers/platform/*'))
  rmSync(provider)
  expect((await publish('--dry-run')).stdout).toMatch(/it would be published\n$/)
  expect((await publish()).stdout).toContain('published: servers of')
  expect(existsSync(provider)).toBe(true)
})

it('refuses different bytes for a platform, and writes nothing', async () => {
  await publish()
  await release('1.0.0', ['linux_amd64', 'darwin_arm64', 'windows_amd64'], 'other')
  const { status, stderr } = await publish()
  expect(status).toBe(1)
  const [, linux] = written()
  expect(stderr).toContain(
    `1.0.0 linux amd64 is published with other files: it has SHA-256 ${linux?.upload.sha256}`,
  )
  expect(written()).toHaveLength(2)
})

it('refuses to add platforms of another build to a version', async () => {
  await publish()
  rmSync(join(dir, 'dist'), { recursive: true })
  await release('1.0.0', ['windows_amd64'], 'other')
  const { status, stderr } = await publish()
  expect(status).toBe(1)
  expect(stderr).toContain(
    '1.0.0 is published with darwin_arm64, linux_amd64, which this release lacks',
  )
  expect(written()).toHaveLength(2)
})

it('refuses a release whose checksums list a zip that is missing', async () => {
  rmSync(`${stemOf('1.0.0')}_linux_amd64.zip`)
  const { status, stderr } = await publish()
  expect(status).toBe(1)
  expect(stderr).toMatch(/_SHA256SUMS lists zips for linux_amd64, which .*dist lacks: /)
  expect(written()).toEqual([])
})

it.each(['--allow-file', '--tag-prefix'])('refuses %s, which is for modules', async (flag) => {
  const { status, stderr } = await publish(flag, 'x')
  expect(status).toBe(2)
  expect(stderr).toBe(`depot: ${flag} is for modules only: leave it out\n`)
})

it('refuses zips that the checksums do not name', async () => {
  put(
    `${stemOf('1.0.0')}_SHA256SUMS`,
    `${'0'.repeat(64)}  terraform-provider-cmdb_1.0.0_linux_amd64.zip\n`,
  )
  const { status, stderr } = await publish()
  expect(status).toBe(1)
  expect(stderr).toMatch(/darwin_arm64\.zip has SHA-256 [0-9a-f]{64}, and .*_SHA256SUMS has none/)
  expect(written()).toEqual([])
})

it('takes the version from the names, unless there are several', async () => {
  await release('1.1.0', ['linux_amd64'])
  expect((await publish()).stderr).toContain(
    'zips of several versions, 1.0.0, 1.1.0: write --version',
  )
  expect((await publish('--version', 'v1.1.0')).status).toBe(0)
  expect((await publish('--version', '1.0.0')).stderr).toContain('1.0.0 is before 1.1.0')
  const missing = await publish('--version', '2.0.0')
  expect(missing.stderr).toContain(
    'has no terraform-provider-cmdb_2.0.0_OS_ARCH.zip; it has those of 1.0.0, 1.1.0',
  )
})

it('requires a signature by a trusted key if the provider names trusted keys', async () => {
  const key = await generateSigningKey({ name: 'cmdb', email: 'cmdb@example.com' })
  const { readPrivateKey, sign, createMessage } = await import('openpgp')
  const signingKey = await readPrivateKey({ armoredKey: key })
  const manifest = {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Provider',
    metadata: { name: 'cmdb', namespace: 'platform' },
    spec: {
      providerConfig: {
        namespace: 'acme',
        trustedKeys: [signingKey.toPublic().armor()],
        storageConfig: { fileSystem: { directoryPath: 'archives' } },
      },
      versions: [],
    },
  }
  put(join(dir, 'registry/cmdb.json'), JSON.stringify(manifest))
  const unsigned = await publish()
  expect(unsigned.status).toBe(1)
  expect(unsigned.stderr).toContain('SHA256SUMS.sig is missing: sign the checksums')
  const sums = `${stemOf('1.0.0')}_SHA256SUMS`
  const signature = await sign({
    message: await createMessage({ binary: readFileSync(sums) }),
    signingKeys: signingKey,
    detached: true,
    format: 'binary',
  })
  put(`${sums}.sig`, Buffer.from(signature as Uint8Array))
  const signed = await publish()
  expect(signed.stdout).toContain(`signed: by ${signingKey.getFingerprint().toUpperCase()}`)
  expect(signed.status).toBe(0)
  await release('1.0.1', ['linux_amd64'])
  put(`${stemOf('1.0.1')}_SHA256SUMS.sig`, readFileSync(`${sums}.sig`))
  const forged = await publish('--version', '1.0.1')
  expect(forged.status).toBe(1)
  expect(written().map(({ version }) => version)).toEqual(['1.0.0', '1.0.0'])
})
