import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { tarGzOf, zipOf } from '../../archives/archive/packed.fixture.ts'
import { compileBinding } from '../../registry/access/access.ts'
import { reasonOf } from './finding.ts'
import { type LintOptions, lint } from './lint.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-oversights-'))
afterAll(() => rmSync(dir, { recursive: true }))

let folders = 0
const nextFolder = () => {
  const folder = join(dir, String(++folders))
  mkdirSync(folder)
  return folder
}

const header = 'apiVersion: depot.internal/v1alpha1\nkind: '
const storage = 'storageConfig: {fileSystem: {directoryPath: files}}'
const namespace = (labels = '') =>
  `apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {${labels}}}\n`
const module = (name: string, metadata = '') => `${header}Module
metadata: {name: ${name}, namespace: team${metadata}}
spec:
  moduleConfig: {provider: aws, ${storage}}
`
const provider = `${header}Provider
metadata: {name: hello, namespace: team}
spec: {providerConfig: {${storage}}}
`
const version = (name: string, fileName: string, parent = 'network') => `${header}Version
metadata: {name: ${name}, namespace: team}
spec:
  type: Module
  version: ${name.replace('v', '')}
  fileName: ${fileName}
  moduleConfigRef: {name: ${parent}}
`
const platform = (fileName: string) => `${header}Version
metadata: {name: hello-1, namespace: team}
spec:
  type: Provider
  version: 1.0.0
  operatingSystem: linux
  architecture: amd64
  fileName: ${fileName}
  providerConfigRef: {name: hello}
`
const depot = (configs: string) => `${header}Depot
metadata: {name: all, namespace: team}
spec:
${configs}`

async function findingsIn(
  documents: readonly string[],
  options: Partial<LintOptions> = {},
): Promise<string[]> {
  const folder = nextFolder()
  if (documents.length > 0) writeFileSync(join(folder, 'all.yaml'), documents.join('---\n'))
  const { findings } = await lint({
    compileBinding,
    paths: [folder],
    apiGroup: 'depot.internal',
    namespace: 'depot-system',
    upstreamHosts: ['registry.opentofu.org'],
    partial: false,
    ...options,
  })
  return findings.map((finding) => {
    const { check, level, line, field, message } = finding
    return [level, check, reasonOf(finding), `line ${line}`, field, message]
      .filter(Boolean)
      .join(' | ')
  })
}

describe('an archive that would be served and that no CLI can use', () => {
  const archivesWith = (files: Readonly<Record<string, Uint8Array | string>>) => {
    const archives = nextFolder()
    for (const [path, bytes] of Object.entries(files)) {
      mkdirSync(dirname(join(archives, path)), { recursive: true })
      writeFileSync(join(archives, path), bytes)
    }
    return { archives }
  }
  const main = { path: 'main.tf', content: '# network\n' }
  const executable = { path: 'terraform-provider-hello_v1.0.0', content: 'program' }
  const published = 'terraform-provider-hello_1.0.0_linux_amd64.zip'

  it.each<[what: string, bytes: Promise<Buffer> | string, found: RegExp[]]>([
    ['text', 'not a zip', [/^error \| bad-archive \| NotAnArchive \| line 13 .*it begins with/]],
    [
      'a tar.gz with the name of a zip',
      tarGzOf([main]),
      [/^error \| bad-archive \| NotAnArchive .*this is a tar\.gz, and CLIs are told .* a zip/],
    ],
    [
      'a zip with everything in one folder',
      zipOf([{ ...main, path: 'network-1.0.0/main.tf' }]),
      [/^error \| bad-archive \| NoModuleAtRoot .*in the folder "network-1\.0\.0"/],
    ],
    [
      'a zip without any configuration',
      zipOf([{ path: 'README.md', content: '# network' }]),
      [/^error \| bad-archive \| NoModuleAtRoot .*there is none anywhere in it/],
    ],
    [
      'a zip with submodules only',
      zipOf([{ ...main, path: 'modules/subnet/main.tf' }]),
      [/^warning \| bad-archive \| NoModuleAtRoot \| line 13 .*only its directories below modules/],
    ],
    ['nothing but a module', zipOf([main]), []],
  ])('module: %s', async (_, bytes, found) => {
    const options = archivesWith({ 'files/network/network.zip': await bytes })
    const findings = await findingsIn(
      [module('network'), version('v1.0.0', 'network.zip')],
      options,
    )
    expect(findings).toEqual(found.map((pattern) => expect.stringMatching(pattern) as string))
  })

  it.each<[what: string, bytes: Promise<Buffer> | string, found: RegExp[]]>([
    ['text', 'not a zip', [/^error \| bad-archive \| NotAnArchive .*not a zip/]],
    [
      'a zip of another provider',
      zipOf([{ ...executable, path: 'terraform-provider-other_v1.0.0' }]),
      [/^error \| bad-archive \| NoProviderInArchive .*"terraform-provider-hello\*"/],
    ],
    ['a zip of this provider', zipOf([executable]), []],
  ])('provider: %s', async (_, bytes, found) => {
    const options = archivesWith({ [`files/hello/${published}`]: await bytes })
    const findings = await findingsIn([provider, platform(published)], options)
    expect(findings).toEqual(found.map((pattern) => expect.stringMatching(pattern) as string))
  })

  it.each([
    ['terraform-provider-hello_1.0.0_darwin_arm64.zip', 'of darwin_arm64:'],
    ['terraform-provider-hello_1.1.0_linux_amd64.zip', 'of version 1.1.0:'],
    ['terraform-provider-hello_1.1.0_linux_amd64-0123456789ab.zip', 'of version 1.1.0:'],
    ['terraform-provider-other_1.0.0_linux_amd64.zip', 'of provider other:'],
  ])('provider: a file that is named %s', async (name, says) => {
    expect(await findingsIn([provider, platform(name)])).toEqual([
      expect.stringMatching(`^error \\| other-archive \\| line 14 .*${says}`),
    ])
  })

  it('is one finding if the folder of all archives is missing', async () => {
    const versions = ['v1.0.0', 'v1.1.0', 'v1.2.0'].map((name) => version(name, `${name}.zip`))
    const findings = await findingsIn([module('network'), ...versions], archivesWith({}))
    expect(findings).toEqual([
      expect.stringMatching(
        /no-archive .*the folder .*files\/network does not exist.*\(2 more like/,
      ),
    ])
  })
})

describe('one mistake is one finding', () => {
  const versions = ['v1.0.0', 'v1.1.0', 'v1.2.0'].map((name) => version(name, `${name}.zip`))

  it('if a module is misspelt that has many Versions', async () => {
    expect(await findingsIn([module('netwrok'), ...versions])).toEqual([
      expect.stringMatching(/no-parent .*no Module team\/network: .*\(2 more like it\)/),
    ])
  })

  it('if a module with many Versions cannot be read', async () => {
    const broken = module('network').replace('provider: aws', 'provider: 7')
    expect(await findingsIn([broken, ...versions])).toEqual([
      expect.stringMatching(
        /^error \| schema \| Invalid \| line 5 \| spec\.moduleConfig\.provider/,
      ),
    ])
  })

  it('if a module with many Versions has no storage', async () => {
    const bare = module('network').replace(`, ${storage}`, '')
    expect(await findingsIn([bare, ...versions])).toEqual([
      expect.stringMatching(/no-storage .*\(2 more like it\)/),
    ])
  })
})

describe('a Depot that cannot be filled', () => {
  it.each<[what: string, configs: string, found: RegExp[]]>([
    [
      'a constraint in words',
      `  moduleConfigs:
    - name: vpc
      repoOwner: acme
      versionConstraints: ~> five
`,
      [/^error \| constraint \| InvalidConstraint \| line 8 .*versionConstraints \| "~> five" at/],
    ],
    [
      'a constraint in words for all modules',
      `  global:
    moduleConfig: {repoOwner: acme, versionConstraints: latest}
  moduleConfigs: [{name: a}, {name: b}, {name: c}]
`,
      [/^error \| constraint .* line 6 \| spec\.global\.moduleConfig\.versionConstraints/],
    ],
    [
      'an scp-like URL',
      `  moduleConfigs:
    - name: vpc
      source: {type: git, url: git@github.com:acme/vpc.git}
`,
      [/^error \| value \| line 7 .*source\.url \| must be an https URL/],
    ],
    [
      'an scp-like URL in repoUrl',
      `  moduleConfigs:
    - name: vpc
      repoUrl: git@github.com:acme/vpc.git
`,
      [/^error \| source \| InvalidSpec \| line 7 .*repoUrl \| "git@.*" is not an https URL/],
    ],
    [
      'an owner that is missing, for all modules',
      `  global:
    moduleConfig: {repoUrl: https://github.com/acme}
  moduleConfigs: [{name: a}, {name: b}, {name: c}]
`,
      [/^error \| source .* line 6 \| spec\.global\.moduleConfig\.repoUrl/],
    ],
    [
      'a registry that the controller may not ask',
      `  providerConfigs: [{name: aws, upstreamHost: registry.terraform.io}]
`,
      [
        /^error \| source .*upstreamHost \| .*not among --upstream-hosts: .*registry\.opentofu\.org/,
      ],
    ],
    [
      'documentation of a provider in a repository that is not named',
      `  providerConfigs:
    - name: cmdb
      docs: {type: github}
    - name: dns
      docs: {type: github, url: https://github.com/acme}
`,
      [
        /^error \| source .* line 7 \| spec\.providerConfigs\[0\]\.docs \| the repository is not known/,
        /^error \| source .* line 9 \| spec\.providerConfigs\[1\]\.docs\.url/,
      ],
    ],
    [
      'two configs for one module',
      `  moduleConfigs:
    - {name: vpc, repoOwner: acme}
    - {name: vpc, repoOwner: acme}
`,
      [/^error \| source .* line 7 \| spec\.moduleConfigs\[1\] \| another config of this Depot/],
    ],
    [
      'rules of policies that cannot be read',
      `  policy:
    deny:
      - {address: git.test/vpc, versions: "=> 1", reason: stolen}
  global:
    policy:
      rule: {expression: upstream.verison == 1, reason: x}
  moduleConfigs: []
`,
      [
        /^error \| policy \| InvalidSpec \| line 7 \| spec\.policy\.deny\[0\] \| /,
        /^error \| policy .*spec\.global\.policy\.rule \| there is no field verison/,
      ],
    ],
    [
      'nothing wrong',
      `  moduleConfigs: [{name: vpc, repoOwner: acme, versionConstraints: "~> 5.0"}]
  providerConfigs: [{name: aws}]
`,
      [],
    ],
  ])('%s', async (_, configs, found) => {
    const findings = await findingsIn([depot(configs)])
    expect(findings).toEqual(found.map((pattern) => expect.stringMatching(pattern) as string))
  })
})

describe('finds what has no effect', () => {
  const binding = (spec: string) =>
    `${header}GroupBinding\nmetadata: {name: b, namespace: depot-system}\nspec:\n  expression: "true"\n${spec}`

  it('a pattern and a name that match nothing', async () => {
    const spec = `  moduleResources:
    - net*
    - vpc-*
    - made
  providerResources: [hello, aws]
`
    const made = depot('  moduleConfigs: [{name: made, repoOwner: acme}]\n')
    expect(await findingsIn([module('network'), provider, made, binding(spec)])).toEqual([
      expect.stringMatching(/^warning \| no-match \| line 25 \| .*"vpc-\*" matches no module of/),
      expect.stringMatching(
        /^warning \| no-match \| .*providerResources\[1\] \| "aws" matches no provider/,
      ),
    ])
  })

  it('no pattern, if modules are elsewhere', async () => {
    const documents = [module('network'), binding('  moduleResources: [vpc-*]\n')]
    expect(await findingsIn(documents, { partial: true })).toEqual([])
    expect(await findingsIn(documents.slice(1))).toEqual([])
  })

  it('a public label in a namespace that is not public, once', async () => {
    const label = ', labels: {depot.internal/public: "true"}'
    const modules = [module('a', label), module('b', label)]
    const finding = expect.stringMatching(
      /^warning \| public-label \| line \d+ \| .*Namespace team does not have it.*\(1 more like/,
    )
    expect(await findingsIn([namespace(), ...modules])).toEqual([finding])
    expect(await findingsIn(modules)).toEqual([finding])
    expect(await findingsIn([namespace('depot.internal/public: "true"'), ...modules])).toEqual([])
    expect(await findingsIn(modules, { partial: true })).toEqual([])
  })

  it('a namespace that is forgotten or misspelt, unless all objects leave it to kubectl', async () => {
    const forgotten = module('vpc').replace('namespace:', 'namespce:')
    expect(await findingsIn([module('network'), forgotten])).toEqual([
      expect.stringMatching(
        /^warning \| no-namespace \| line 9 \| metadata\.namespace \| .*default/,
      ),
    ])
    expect(await findingsIn([forgotten])).toEqual([])
  })

  it('a path where nothing is recognised', async () => {
    const other = module('network').replace('depot.internal', 'depot.example')
    const nothing = /^error \| nothing-found .*apiVersion depot\.internal\/v1alpha1, in (0|1) files/
    expect(await findingsIn([])).toEqual([expect.stringMatching(nothing)])
    expect(await findingsIn([other])).toEqual([expect.stringMatching(nothing)])
    const folder = nextFolder()
    writeFileSync(join(folder, 'module.yaml'), module('network'))
    const findings = await findingsIn([], { paths: [folder, nextFolder()] })
    expect(findings).toEqual([expect.stringMatching(/^warning \| nothing-found/)])
  })
})

describe('findings that a scanPolicy accepts', () => {
  const entry = (id: string, until: string) => `{id: ${id}, reason: not called, until: "${until}"}`
  const ignoring = (...entries: string[]) => `${header}Module
metadata: {name: network, namespace: team}
spec:
  moduleConfig:
    provider: aws
    ${storage}
    scanPolicy: {block: HIGH, ignore: [${entries.join(', ')}]}
`
  const scanned = (more = '') =>
    `${version('v1.0.0', 'network.zip')}status:
  sourceScan: {findings: [{vulnerabilityID: CVE-1}]}
  scan: {sha256: ${'a'.repeat(64)}, scanner: trivy, counts: {critical: 0, high: 0, medium: 0, low: 0, unknown: 1}${more}}
`
  const typo = 'no scan of its versions found CVE-2: correct the id, or remove the entry'
  const accepted = async (...documents: string[]) =>
    (await findingsIn(documents)).filter((text) => text.includes('accepted-finding'))

  it('are reported when they have ended, or when no scan found them', async () => {
    const entries = [entry('CVE-1', '2999-01-01'), entry('CVE-2', '2999-01-01')]
    const ended = entry('CVE-1', '2020-01-01')
    expect(await accepted(ignoring(...entries, ended), scanned())).toEqual([
      expect.stringContaining(typo),
      expect.stringContaining('CVE-1 is accepted no longer, it was until 2020-01-01'),
    ])
  })

  it('may be right if not every version was scanned, or not every finding is listed', async () => {
    const policy = ignoring(entry('CVE-2', '2999-01-01'))
    expect(await accepted(policy, scanned())).toHaveLength(1)
    expect(await accepted(policy)).toEqual([])
    expect(await accepted(policy, scanned(', truncated: true'))).toEqual([])
    expect(await accepted(policy, scanned(), version('v1.1.0', 'other.zip'))).toEqual([])
    const sourced = `  artifact: {source: {repository: a, revision: b, sha256: ${'b'.repeat(64)}}}\n`
    expect(await accepted(policy, scanned() + sourced)).toEqual([])
  })
})
