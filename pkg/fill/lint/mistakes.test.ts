import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compileBinding } from '../../registry/access/access.ts'
import { lint } from './lint.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-mistakes-'))
afterAll(() => rmSync(dir, { recursive: true }))

type Fields = Readonly<Record<string, unknown>>
const object = (kind: string, spec: Fields, metadata: Fields = {}) => ({
  apiVersion: 'depot.internal/v1alpha1',
  kind,
  metadata: { namespace: 'team', ...metadata },
  spec,
})
const storageConfig = { fileSystem: { directoryPath: 'modules' } }
const module = (config: Fields, metadata?: Fields) =>
  object('Module', { moduleConfig: config }, metadata)
const provider = (config: Fields) => object('Provider', { providerConfig: config })
const network = { moduleConfigRef: { name: 'network' } }
const hello = {
  providerConfigRef: { name: 'hello' },
  operatingSystem: 'linux',
  architecture: 'amd64',
}
const archive = (spec: Fields, status?: Fields) => ({
  ...object('Version', { type: 'Module', fileName: 'a.zip', ...spec }),
  ...(status && { status }),
})
const ofProvider = (spec: Fields) => archive({ type: 'Provider', ...hello, ...spec })
const binding = (spec: Fields, namespace = 'depot-system') =>
  object('GroupBinding', { expression: 'true', ...spec }, { namespace })

/** Mistakes that people make, and the corrections that lint names. */
const mistakes: readonly (readonly [what: string, object: object, says: RegExp])[] = [
  [
    'two backends',
    module({ storageConfig: { ...storageConfig, gcs: { bucket: 'b' } } }),
    /exactly one backend of s3, /,
  ],
  [
    's3 without a region',
    module({ storageConfig: { s3: { bucket: 'b' } } }),
    /s3\.region is required/,
  ],
  [
    'a version policy in lower case',
    module({ storageConfig, versionPolicy: 'enforce' }),
    /must be "None" or "Warn" or "Enforce"/,
  ],
  [
    'a provider whose breaking changes are accepted',
    ofProvider({ version: '1.3.0', acceptBreaking: true }),
    /acceptBreaking belongs to a Version of type Module/,
  ],
  [
    'a version as a number',
    archive({ version: 1, ...network }),
    /is the number 1: put it in quotes/,
  ],
  [
    'a type in lower case',
    archive({ type: 'module', version: '1.0.1', ...network }),
    /must be "Module" or "Provider"/,
  ],
  [
    'both references',
    archive({ version: '1.0.2', ...network, providerConfigRef: { name: 'hello' } }),
    /belongs to a Version of type Provider: write moduleConfigRef instead/,
  ],
  [
    'the reference of the other type',
    archive({ version: '1.0.3', providerConfigRef: { name: 'hello' } }),
    /write moduleConfigRef instead/,
  ],
  [
    'a field that is misspelt',
    archive({ version: '1.0.4', filename: 'a.zip', ...network }),
    /spec\.filename .*write fileName/,
  ],
  [
    'a lifetime without a unit',
    module({ storageConfig: { ...storageConfig, presign: { ttl: '15' } } }),
    /such as 15m or 1h/,
  ],
  [
    'storage beside the reference',
    archive({ version: '1.0.5', ...network, storageConfig }),
    /write it inside moduleConfigRef/,
  ],
  [
    'storage beside the reference to a provider',
    ofProvider({ version: '1.0.6', storageConfig }),
    /or providerConfigRef/,
  ],
  [
    'a version that is not semantic',
    archive({ version: '1.2', ...network }),
    /write three numbers, such as 1\.2\.0/,
  ],
  [
    'an expression with a mistake',
    binding({ expression: '"a" in groups =' }),
    /unexpected operator '=' \(1:15\)/,
  ],
  [
    'an expression that is a text',
    binding({ expression: 'groups[0]' }),
    /must be true or false, but it is a string/,
  ],
  [
    'a pattern that does not end',
    binding({ moduleResources: ['a['] }),
    /"a\[": the pattern ends too early/,
  ],
  ['no reference', archive({ version: '1.0.7' }), /name it in spec\.moduleConfigRef\.name/],
  [
    'a parent that is not there',
    archive({ version: '1.0.8', moduleConfigRef: { name: 'netwrok' } }),
    /there is no Module team\/netwrok: add it, or correct/,
  ],
  [
    'no file',
    archive({ version: '1.0.9', fileName: undefined, ...network }),
    /write its name, such as network-1\.2\.0\.zip/,
  ],
  [
    'a provider without a platform',
    ofProvider({ version: '1.1.0', operatingSystem: undefined, architecture: undefined }),
    /write operatingSystem and architecture/,
  ],
  [
    'an operating system in capitals',
    ofProvider({ version: '1.1.1', operatingSystem: 'Linux' }),
    /spelled as in Go: linux/,
  ],
  [
    'an architecture as the kernel says',
    ofProvider({ version: '1.1.2', architecture: 'x86_64' }),
    /must be amd64/,
  ],
  [
    'a path as a file',
    archive({ version: '1.1.3', fileName: '../../etc/passwd', ...network }),
    /must be the name of a file, not a path/,
  ],
  [
    'a directory outside',
    module({ storageConfig: { fileSystem: { directoryPath: '../secret' } } }),
    /write a path below --archives without \.\./,
  ],
  [
    'an invalid digest',
    archive({ version: '1.1.4', ...network }, { checksum: 'nothex' }),
    /64 hexadecimal digits \(sha256sum FILE\)/,
  ],
  [
    'one version twice',
    archive({ version: 'v1.0.0', ...network }),
    /is the same version as team\/good .*: delete one of them/,
  ],
  [
    'an archive that no CLI unpacks',
    archive({ version: '1.1.5', fileName: 'a.rar', ...network }),
    /must end in \.zip, \.tar\.gz or \.tgz/,
  ],
  [
    'protocols as a word',
    provider({ storageConfig, protocols: ['five'] }),
    /in quotes, such as "5\.0" or "6\.0"/,
  ],
  [
    'no storage',
    archive({ version: '1.1.6', moduleConfigRef: { name: 'bare' } }),
    /has a storageConfig: add one that says where the archive is/,
  ],
  [
    'a system with a hyphen',
    module({ storageConfig, provider: 'aws-gov' }),
    /write awsgov instead of aws-gov/,
  ],
  [
    'a name with a slash',
    module({ storageConfig, name: 'a/b' }),
    /letters, digits, - and _, such as network/,
  ],
  [
    'a label in capitals',
    module({ storageConfig }, { labels: { 'depot.internal/public': 'True' } }),
    /is "True", which makes nothing public: write "true"/,
  ],
  ['a binding elsewhere', binding({}, 'team'), /from namespace depot-system only, .*: move it/],
  [
    'a pattern where providers are exact',
    binding({ providerResources: ['aws*'] }),
    /or the exact name of one: providerResources takes no patterns/,
  ],
]

const nameOf = (index: number) => `mistake-${String(index + 1).padStart(2, '0')}`
let findings: Awaited<ReturnType<typeof lint>>['findings']

beforeAll(async () => {
  const good = [
    module({ storageConfig, provider: 'aws' }, { name: 'network' }),
    module({}, { name: 'bare' }),
    object('Provider', { providerConfig: { storageConfig } }, { name: 'hello' }),
    { ...archive({ version: '1.0.0', ...network }), metadata: { name: 'good', namespace: 'team' } },
  ]
  const wrong = mistakes.map(([, wanted], index) => {
    const { metadata, ...rest } = wanted as { metadata: object }
    return { ...rest, metadata: { ...metadata, name: nameOf(index) } }
  })
  writeFileSync(join(dir, 'all.json'), JSON.stringify({ kind: 'List', items: [...good, ...wrong] }))
  const options = {
    apiGroup: 'depot.internal',
    namespace: 'depot-system',
    upstreamHosts: [],
    partial: false,
  }
  ;({ findings } = await lint({ compileBinding, paths: [dir], ...options }))
})

it('finds each of 32 mistakes', () => {
  const named = new Set(findings.map((finding) => finding.object?.name))
  expect(named).toEqual(new Set(mistakes.map((_, index) => nameOf(index))))
})

it.each(mistakes.map(([what, , says], index) => ({ what, says, name: nameOf(index) })))(
  'says what to write instead of $what',
  ({ says, name }) => {
    const said = findings
      .filter((finding) => finding.object?.name === name)
      .map(({ field, message }) => [field, message].filter(Boolean).join(' '))
    expect(said).toContainEqual(expect.stringMatching(says))
  },
)
