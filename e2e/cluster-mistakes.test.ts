import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { type Kind, kinds, mistakesIn, parseResource } from '../pkg/api/v1alpha1/v1alpha1.ts'

const root = '/apis/depot.internal/v1alpha1/namespaces/team'
const storageConfig = { fileSystem: { directoryPath: 'modules' } }
const digest = 'c'.repeat(64)

let cluster: ControlPlane

beforeAll(async () => {
  cluster = await startControlPlane()
  await applyManifests(cluster.admin, 'config/crd/bases')
  await cluster.admin.request('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
})
afterAll(() => cluster?.stop())

interface Mistake {
  readonly name: string
  readonly kind: Kind
  readonly spec: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
  /** Part of the API server's message. */
  readonly says: RegExp
}

const moduleWith = (moduleConfig: object) => ({ kind: 'Module', spec: { moduleConfig } }) as const
const providerWith = (providerConfig: object) =>
  ({ kind: 'Provider', spec: { providerConfig } }) as const
const moduleVersion = (fields: object) =>
  ({
    kind: 'Version',
    spec: {
      type: 'Module',
      version: '1.0.0',
      fileName: 'network-1.0.0.zip',
      moduleConfigRef: { name: 'network' },
      ...fields,
    },
  }) as const
const providerVersion = (fields: object) =>
  ({
    kind: 'Version',
    spec: {
      type: 'Provider',
      version: '1.0.0',
      fileName: 'terraform-provider-hello_1.0.0_linux_amd64.zip',
      operatingSystem: 'linux',
      architecture: 'amd64',
      providerConfigRef: { name: 'hello' },
      ...fields,
    },
  }) as const
const binding = (fields: object) =>
  ({ kind: 'GroupBinding', spec: { expression: '"a" in groups', ...fields } }) as const

/** Refused by the types and enumerations of the definition. */
const malformed: readonly Mistake[] = [
  {
    name: 'two backends',
    ...moduleWith({ storageConfig: { ...storageConfig, gcs: { bucket: 'b' } } }),
    says: /exactly one backend of s3, azureStorage, gcs, fileSystem/,
  },
  {
    name: 'no backend',
    ...moduleWith({ storageConfig: {} }),
    says: /exactly one backend of s3, azureStorage, gcs, fileSystem/,
  },
  {
    name: 's3 without a region',
    ...moduleWith({ storageConfig: { s3: { bucket: 'b' } } }),
    says: /s3\.region: Required value/,
  },
  {
    name: 'a lifecycle rule for a version that is too long to be one',
    kind: 'Module',
    spec: {
      moduleConfig: { storageConfig },
      lifecycle: [{ versions: `1.0.0-${'a'.repeat(300)}`, state: 'Quarantined' }],
    },
    says: /spec\.lifecycle\[0\]\.versions: Invalid value/,
  },
  {
    name: 'a version as a number',
    ...moduleVersion({ version: 1 }),
    says: /spec\.version.*string/,
  },
  {
    name: 'a type in lower case',
    ...moduleVersion({ type: 'module' }),
    says: /supported values: "Module", "Provider"/,
  },
  {
    name: 'both references',
    ...moduleVersion({ providerConfigRef: { name: 'hello' } }),
    says: /providerConfigRef belongs to a Version of type Provider/,
  },
  {
    name: 'the reference of the other type',
    ...providerVersion({ providerConfigRef: undefined, moduleConfigRef: { name: 'network' } }),
    says: /moduleConfigRef belongs to a Version of type Module/,
  },
  {
    name: 'a provider version whose breaking changes are accepted',
    ...providerVersion({ acceptBreaking: true }),
    says: /acceptBreaking belongs to a Version of type Module/,
  },
  {
    name: 'a version policy in lower case',
    ...moduleWith({ versionPolicy: 'enforce' }),
    says: /supported values: "None", "Warn", "Enforce"/,
  },
  {
    name: 'a lifetime without a unit',
    ...moduleWith({ storageConfig: { ...storageConfig, presign: { ttl: '15' } } }),
    says: /presign\.ttl/,
  },
  {
    name: 'a file format that no CLI unpacks',
    ...moduleWith({ fileFormat: 'rar' }),
    says: /supported values: "zip", "tar"/,
  },
]

/** Well-formed but unusable objects, refused by rules that Depot also has. */
const useless: readonly Mistake[] = [
  {
    name: 'a provider version without a platform',
    ...providerVersion({ operatingSystem: undefined, architecture: undefined }),
    says: /write operatingSystem and architecture, such as linux and amd64/,
  },
  {
    name: 'an operating system in capitals',
    ...providerVersion({ operatingSystem: 'Linux' }),
    says: /spelled as in Go: linux, darwin, windows/,
  },
  {
    name: 'macos',
    ...providerVersion({ operatingSystem: 'macos' }),
    says: /must be darwin/,
  },
  {
    name: 'an architecture as the kernel calls it',
    ...providerVersion({ architecture: 'x86_64' }),
    says: /must be amd64/,
  },
  {
    name: 'another architecture as the kernel calls it',
    ...providerVersion({ architecture: 'aarch64' }),
    says: /must be arm64/,
  },
  {
    name: 'a file name that is a path',
    ...moduleVersion({ fileName: '../../etc/passwd' }),
    says: /must be the name of a file, not a path/,
  },
  {
    name: 'a file name with a backslash',
    ...moduleVersion({ fileName: 'a\\b.zip' }),
    says: /must be the name of a file, not a path/,
  },
  {
    name: 'a file name that is a folder',
    ...moduleVersion({ fileName: '..' }),
    says: /must be the name of a file, such as/,
  },
  {
    name: 'an archive that no CLI unpacks',
    ...moduleVersion({ fileName: 'network-1.0.0.rar' }),
    says: /must end in \.zip, \.tar\.gz or \.tgz/,
  },
  {
    name: 'a provider that is not a zip file',
    ...providerVersion({ fileName: 'terraform-provider-hello_1.0.0_linux_amd64.tar.gz' }),
    says: /must end in \.zip/,
  },
  {
    name: 'a directory outside',
    ...moduleWith({ storageConfig: { fileSystem: { directoryPath: '../secret' } } }),
    says: /without \.\./,
  },
  {
    name: 'a directory outside, in the copy of a Version',
    ...moduleVersion({
      moduleConfigRef: { storageConfig: { fileSystem: { directoryPath: 'a/../../b' } } },
    }),
    says: /without \.\./,
  },
  {
    name: 'an invalid checksum',
    ...moduleVersion({}),
    status: { checksum: 'nothex' },
    says: /64 hexadecimal digits \(sha256sum FILE\) or as base64/,
  },
  {
    name: 'an invalid digest of an upload',
    ...moduleVersion({ upload: { sha256: `${'g'.repeat(63)}!` } }),
    says: /64 hexadecimal digits/,
  },
  {
    name: 'a protocol as a word',
    ...providerWith({ protocols: ['five'] }),
    says: /such as "5\.0" or "6\.0"/,
  },
  {
    name: 'a protocol as a whole number',
    ...providerVersion({ protocols: ['5'] }),
    says: /such as "5\.0" or "6\.0"/,
  },
  {
    name: 'a system that no CLI takes',
    ...moduleWith({ provider: 'aws-gov' }),
    says: /write awsgov instead of aws-gov/,
  },
  {
    name: 'a name with a slash',
    ...moduleWith({ name: 'a/b' }),
    says: /letters, digits, - and _, such as network/,
  },
  {
    name: 'a provider type in capitals',
    ...providerWith({ name: 'Hello' }),
    says: /lower-case letters, digits, - and _, such as hello/,
  },
  {
    name: 'a pattern where providers are exact',
    ...binding({ providerResources: ['hello', 'aws*'] }),
    says: /must be \* for every provider, or the exact name of one/,
  },
  {
    name: 'a bad module in a Depot',
    kind: 'Depot',
    spec: { moduleConfigs: [{ name: 'network' }, { name: 'a b' }] },
    says: /letters, digits, - and _, such as network/,
  },
]

/** Refused by patterns of the definition, which explain less than Depot does. */
const unusable: readonly (Mistake & { readonly field: RegExp })[] = [
  {
    name: 'a source with a password in its URL',
    ...moduleWith({ source: { type: 'git', url: 'https://me:secret@git.example.com/vpc.git' } }),
    field: /source\.url/,
    says: /credentials belong into the Secret/,
  },
  {
    name: 'a source over ssh',
    ...moduleWith({ source: { type: 'git', url: 'git@git.example.com:vpc.git' } }),
    field: /source\.url/,
    says: /must be an https URL/,
  },
  {
    name: 'a path that leads out of the archive',
    ...moduleWith({ source: { type: 'github', path: 'modules/../../vpc' } }),
    field: /source\.path/,
    says: /without \.\./,
  },
  {
    name: 'a source without a url',
    ...moduleWith({ source: { type: 'registry' } }),
    field: /needs a url/,
    says: /needs a url/,
  },
  {
    name: 'an archive without a version in its url',
    ...moduleWith({ source: { type: 'archive', url: 'https://example.com/vpc.zip' } }),
    field: /must contain \{version\}/,
    says: /must contain \{version\}/,
  },
  {
    name: 'a GitHub API over http',
    ...moduleWith({ githubClientConfig: { apiUrl: 'http://github.example.com/api/v3' } }),
    field: /githubClientConfig\.apiUrl/,
    says: /must be an https URL/,
  },
  {
    name: 'an upstream as a URL',
    ...providerWith({ upstreamHost: 'https://registry.opentofu.org' }),
    field: /upstreamHost/,
    says: /without https/,
  },
  {
    name: 'a trusted key by its short id',
    ...providerWith({ trustedKeys: ['0xDEADBEEF'] }),
    field: /trustedKeys\[0\]/,
    says: /a short key id can be forged/,
  },
]

const objectOf = ({ kind, spec }: Mistake) => ({
  apiVersion: 'depot.internal/v1alpha1',
  kind,
  metadata: { name: 'wrong', namespace: 'team' },
  spec: JSON.parse(JSON.stringify(spec)) as unknown,
})

async function write(mistake: Mistake): Promise<unknown> {
  const path = `${root}/${kinds[mistake.kind].plural}/wrong`
  const answer = await cluster.admin.apply(path, objectOf(mistake))
  if (mistake.status === undefined) return answer
  const { kind, status } = mistake
  return cluster.admin.apply(`${path}/status`, { ...objectOf(mistake), kind, status })
}

describe('an API server that refuses a malformed object says what to write', () => {
  it.each(malformed)('$name', async (mistake) => {
    await expect(write(mistake)).rejects.toThrow(mistake.says)
  })
})

describe('an API server that refuses an unusable object says what to write', () => {
  it.each(useless)('$name', async (mistake) => {
    await expect(write(mistake)).rejects.toThrow(mistake.says)
  })

  it.each(useless)('and Depot reports the same: $name', (mistake) => {
    const parsed = parseResource(mistake.kind, { ...objectOf(mistake), status: mistake.status })
    const messages = parsed.ok ? mistakesIn(parsed.resource).map(({ message }) => message) : []
    expect(messages).toHaveLength(1)
    expect(messages[0]).toMatch(mistake.says)
  })
})

describe('Depot explains what the patterns of the definition refuse', () => {
  it.each(unusable)('$name', async (mistake) => {
    await expect(write(mistake)).rejects.toThrow(mistake.field)
    const parsed = parseResource(mistake.kind, objectOf(mistake))
    const messages = parsed.ok ? mistakesIn(parsed.resource).map(({ message }) => message) : []
    expect(messages).toHaveLength(1)
    expect(messages[0]).toMatch(mistake.says)
  })
})

describe('the API server and Depot accept every valid object', () => {
  it.each([
    { name: 'an address that is not a DNS label', ...moduleWith({ name: 'my_module' }) },
    { name: 'a module that is complete', ...moduleWith({ provider: 'aws', storageConfig }) },
    {
      name: 'a directory with dots',
      ...moduleWith({ storageConfig: { fileSystem: { directoryPath: '/a/..b/c..' } } }),
    },
    {
      name: 'an archive with the digest of its upload',
      ...moduleVersion({ upload: { sha256: digest, sizeBytes: 7 } }),
    },
    {
      name: 'a name of an archive without an ending',
      ...moduleVersion({ fileName: 'network-1.2.0' }),
    },
    { name: 'an ending in capitals', ...moduleVersion({ fileName: 'Network 1.2.0+x.TAR.GZ' }) },
    {
      name: 'a version that waits for its archive',
      ...moduleVersion({ fileName: undefined, moduleConfigRef: undefined }),
    },
    {
      name: 'a platform of few',
      ...providerVersion({ operatingSystem: 'freebsd', architecture: 'riscv64' }),
    },
    {
      name: 'every provider',
      ...binding({ moduleResources: ['vpc-*'], providerResources: ['*'] }),
    },
    { name: 'protocols', ...providerWith({ protocols: ['5.0', '6.10'] }) },
    {
      name: 'a module of a registry',
      ...moduleWith({ source: { type: 'registry', url: 'registry.opentofu.org/acme/vpc/aws' } }),
    },
    {
      name: 'a module of a monorepo',
      ...moduleWith({
        source: {
          type: 'git',
          url: 'https://git.example.com:8443/infra.git',
          path: 'modules/v1..2/.hidden',
          tagPrefix: 'vpc/v',
          secretRef: { name: 'git' },
        },
      }),
    },
    {
      name: 'a provider with trusted keys',
      ...providerWith({ trustedKeys: ['C874011F0AB405110D02105534365D9472D7468F'] }),
    },
  ] as const)('$name', async (fine) => {
    const mistake = { ...fine, says: /never/ }
    await expect(write(mistake)).resolves.toBeDefined()
    const parsed = parseResource(fine.kind, objectOf(mistake))
    expect(parsed.ok && mistakesIn(parsed.resource)).toEqual([])
    await cluster.admin.send('DELETE', `${root}/${kinds[fine.kind].plural}/wrong`)
  })
})

it.each([
  { name: 'misspelt', kind: 'Version', field: 'filename', value: 'a.zip' },
  { name: 'in the wrong place', kind: 'Version', field: 'storageConfig', value: storageConfig },
  { name: 'beside the config', kind: 'Module', field: 'provider', value: 'aws' },
] as const)(
  'refuses, with the validation that kubectl requests, a field that is $name',
  async ({ kind, field, value }) => {
    const { spec } = kind === 'Version' ? moduleVersion({}) : moduleWith({})
    const object = objectOf({ name: '', kind, spec: { ...spec, [field]: value }, says: /never/ })
    const path = `${root}/${kinds[kind].plural}?fieldValidation=Strict`
    await expect(cluster.admin.request('POST', path, object)).rejects.toThrow(
      `unknown field "spec.${field}"`,
    )
  },
)

it('publishes a Version that has only a spec', async () => {
  const { spec } = moduleVersion({ upload: { sha256: digest } })
  const object = { ...objectOf({ name: '', kind: 'Version', spec, says: /never/ }) }
  expect(await cluster.admin.apply(`${root}/versions/wrong`, object)).toMatchObject({
    spec: { upload: { sha256: digest } },
  })
})
