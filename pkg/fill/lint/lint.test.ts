import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { zipOf } from '../../archives/archive/packed.fixture.ts'
import { compileBinding } from '../../registry/access/access.ts'
import { asJson, asSarif, asText, checks, type LintOptions, lint } from './lint.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-lint-'))
afterAll(() => rmSync(dir, { recursive: true }))

const moduleZip = await zipOf([{ path: 'main.tf', content: '# network\n' }])
const digest = createHash('sha256').update(moduleZip).digest('hex')
const module = (name: string, config: string) =>
  `apiVersion: depot.internal/v1alpha1
kind: Module
metadata: {name: ${name}, namespace: team}
spec: {moduleConfig: {${config}}}
`
const version = (name: string, spec: string, type = 'Module') =>
  `apiVersion: depot.internal/v1alpha1
kind: Version
metadata: {name: ${name}, namespace: team}
spec: {type: ${type}, ${spec}}
`
const cmdb = `apiVersion: depot.internal/v1alpha1
kind: Provider
metadata: {name: cmdb, namespace: team}
spec: {providerConfig: {storageConfig: {fileSystem: {directoryPath: providers}}}}
`
/** A Version of a release, whose platforms are written with the digit of their digests. */
const released = (os: string, arch: string, digit: string, platforms: string) => {
  const release = platforms.replaceAll(
    /(\w+) (\w)/g,
    (_, platform: string, of: string) => `{platform: ${platform}, sha256: ${of.repeat(64)}}`,
  )
  const upload = `{fileName: ${os}.zip, sha256: ${digit.repeat(64)}, release: ${release}}`
  return version(
    `cmdb-${os}-${arch}`,
    `version: 1.0.0, operatingSystem: ${os}, architecture: ${arch}, providerConfigRef: {name: cmdb}, upload: ${upload}`,
    'Provider',
  )
}
const binding = (spec: string, namespace = 'depot-system') =>
  `apiVersion: depot.internal/v1alpha1
kind: GroupBinding
metadata: {name: developers, namespace: ${namespace}}
spec: {${spec}}
`
const storage = 'storageConfig: {fileSystem: {directoryPath: modules}}'
const network = module('network', `provider: aws, ${storage}`)
const good = 'version: 1.0.0, fileName: n-1.0.0.zip, moduleConfigRef: {name: network}'

let folders = 0
async function findingsIn(
  documents: readonly string[],
  options: Partial<LintOptions> = {},
): Promise<string[]> {
  const folder = join(dir, String(++folders))
  mkdirSync(folder)
  writeFileSync(join(folder, 'all.yaml'), documents.join('---\n'))
  const { findings } = await lint({
    compileBinding,
    paths: [folder],
    apiGroup: 'depot.internal',
    namespace: 'depot-system',
    upstreamHosts: ['registry.opentofu.org'],
    partial: false,
    ...options,
  })
  return findings.map(({ check, level, line, field, message }) =>
    [level, check, `line ${line}`, field, message].filter(Boolean).join(' | '),
  )
}

it('finds nothing in manifests that can be served', async () => {
  const provider = network.replace('Module', 'Provider').replace('moduleConfig', 'providerConfig')
  const platform = 'operatingSystem: linux, architecture: amd64, providerConfigRef: {name: network}'
  expect(
    await findingsIn([
      network,
      version('network-1', good),
      version('network-2', good.replaceAll('1.0.0', '2.0.0-rc.1')),
      provider.replace('provider: aws, ', ''),
      version('p-1', `version: 1.0.0, fileName: p.zip, ${platform}`, 'Provider'),
      binding(`expression: '"a" in groups', moduleResources: ['net*'], providerResources: ['*']`),
      'apiVersion: v1\nkind: Secret\nmetadata: {name: other}\n',
    ]),
  ).toEqual([])
})

describe('finds', () => {
  it.each<[what: string, documents: readonly string[], found: readonly RegExp[]]>([
    ['text that is not valid YAML', ['kind: [\n'], [/^error \| syntax \| line 2/]],
    [
      'a missing field',
      [network, version('v', 'fileName: n.zip, moduleConfigRef: {name: network}')],
      [/^error \| schema \| line \d \| spec\.version \| is required/],
    ],
    [
      'a value that cannot work',
      [network, version('v', good.replace('n-1.0.0.zip', '../n.zip'))],
      [/^error \| value \| line 9 \| spec\.fileName \| must be the name of a file/],
    ],
    [
      'a name that no cluster takes',
      [module('a_b', storage)],
      [/^error \| value \| .*metadata\.name \| must be a name as Kubernetes has it/],
    ],
    [
      'an object that is there twice',
      [network, network],
      [/^error \| duplicate-object \| .*team\/network in .*all\.yaml:1 already/],
    ],
    [
      'a Version without a reference',
      [version('v', `version: 1.0.0, fileName: n.zip, moduleConfigRef: {${storage}}`)],
      [/^error \| no-parent \| .*name it in spec\.moduleConfigRef\.name/],
    ],
    [
      'a parent that is not there',
      [version('v', good)],
      [/no-parent \| line 4 \| spec\.moduleConfigRef \| there is no Module team\/network/],
    ],
    [
      'a module without storage',
      [module('network', 'provider: aws'), version('v', good)],
      [/^error \| no-storage/],
    ],
    [
      'a Version without a file',
      [network, version('v', 'version: 1.0.0, moduleConfigRef: {name: network}')],
      [/^error \| no-file-name .*spec\.fileName/],
    ],
    [
      'a version that is not semantic',
      [network, version('v', good.replace('version: 1.0.0', 'version: "1.0"'))],
      [/^error \| not-semver \| line 9 \| .*write three numbers/],
    ],
    [
      'one version twice',
      [
        network,
        version('a', good),
        version('b', good.replace('version: 1.0.0', 'version: v1.0.0')),
      ],
      [/^error \| duplicate-version \| line 11 \| is the same version as team\/a/],
    ],
    [
      'a release without one of its platforms',
      [
        cmdb,
        released('darwin', 'arm64', 'a', '[darwin_arm64 a, linux_amd64 b, linux_arm64 c]'),
        released('linux', 'amd64', 'b', '[darwin_arm64 a, linux_amd64 b, linux_arm64 c]'),
      ],
      [
        /^error \| incomplete-release .*spec\.upload\.release \| the release lacks linux_arm64, so none of it is served: publish it again .*\(1 more like it\)/,
      ],
    ],
    [
      'a release with a platform that a Depot fetched',
      [
        cmdb,
        released('darwin', 'arm64', 'a', '[darwin_arm64 a, linux_amd64 b]'),
        version(
          'cmdb-linux',
          'version: 1.0.0, fileName: linux.zip, operatingSystem: linux, architecture: amd64, providerConfigRef: {name: cmdb}',
          'Provider',
        ).concat(`status: {checksum: ${'b'.repeat(64)}}\n`),
      ],
      [],
    ],
    [
      'two modules of one address',
      [network, module('other', `name: network, provider: aws, ${storage}`)],
      [/^error \| address-conflict \| line 6 \| network\/aws is the address of team\/network/],
    ],
    [
      'an expression that does not compile',
      [binding(`expression: 'groups['`)],
      [/^error \| expression \| line 4/],
    ],
    [
      'a pattern for module names that does not compile',
      [binding(`expression: 'true', moduleResources: ['a[']`)],
      [/^error \| expression \| line 4 \| moduleResources "a\["/],
    ],
    [
      'a binding that is never read',
      [binding(`expression: 'true'`, 'team')],
      [/^warning \| ignored-binding .*from namespace depot-system only/],
    ],
    [
      'a label that makes nothing public',
      [
        network.replace(
          'namespace: team}',
          'namespace: team, labels: {depot.internal/public: "True"}}',
        ),
      ],
      [/^warning \| public-label \| line 3 \| .*write "true"/],
    ],
  ])('%s', async (_, documents, found) => {
    const findings = await findingsIn(documents)
    expect(findings).toEqual(found.map((pattern) => expect.stringMatching(pattern) as string))
  })
})

it('only warns about objects that may be elsewhere with partial', async () => {
  const findings = await findingsIn([version('v', good)], { partial: true })
  expect(findings.map((text) => text.split(' | ', 2).join(' '))).toEqual(['warning no-parent'])
})

it('distinguishes modules of one name with different systems', async () => {
  const azure = module('network-azure', `name: network, provider: azurerm, ${storage}`)
  const config = 'moduleConfigRef: {name: network, provider: azurerm}'
  const own = version('azure-1', `version: 1.0.0, fileName: a.zip, ${config}`)
  expect(await findingsIn([network, azure, version('aws-1', good), own])).toEqual([])
})

it('checks archives if a mount is given', async () => {
  const mount = join(dir, 'archives')
  mkdirSync(join(mount, 'modules/network'), { recursive: true })
  writeFileSync(join(mount, 'modules/network/n-1.0.0.zip'), moduleZip)
  const options = { archives: mount }
  const uploaded = (sha256: string) => version('v', `${good}, upload: {sha256: "${sha256}"}`)
  expect(await findingsIn([network, uploaded(digest)], options)).toEqual([])
  expect(await findingsIn([network, uploaded('0'.repeat(64))], options)).toEqual([
    expect.stringMatching(`wrong-digest.*has the SHA-256 ${digest}, not 0000`),
  ])
  const other = version('v', good.replace('n-1.0.0', 'n-9'))
  expect(await findingsIn([network, other], options)).toEqual([
    expect.stringMatching(/no-archive.*n-9\.zip: does not exist/),
  ])
})

it('does not check the archive of a Version without parent, unless the parent may be elsewhere', async () => {
  const mount = join(dir, 'archives')
  mkdirSync(join(mount, 'modules/network'), { recursive: true })
  const config = `fileName: n-7.zip, moduleConfigRef: {name: network, provider: aws, ${storage}}`
  const orphan = version('v', `version: 1.0.0, ${config}`)
  const archives = mount
  expect(await findingsIn([orphan], { archives })).toEqual([expect.stringContaining('no-parent')])
  expect(await findingsIn([orphan], { archives, partial: true })).toEqual([
    expect.stringContaining('no-parent'),
    expect.stringContaining('no-archive'),
  ])
  // The parent may have another name in its config.
  const named = orphan.replace('name: network, ', '')
  expect(await findingsIn([named], { archives, partial: true })).not.toContainEqual(
    expect.stringContaining('no-archive'),
  )
})

it('looks for an archive in the place that the registry serves: the name in the Version comes first', async () => {
  const mount = join(dir, 'archives')
  mkdirSync(join(mount, 'modules/network'), { recursive: true })
  writeFileSync(join(mount, 'modules/network/n-1.0.0.zip'), moduleZip)
  const renamed = module('network', `name: shared, provider: aws, ${storage}`)
  const options = { archives: mount }
  expect(await findingsIn([renamed, version('v', good)], options)).toEqual([])
})

it('looks for an archive in an absolute directory', async () => {
  const mount = join(dir, 'archives')
  mkdirSync(join(mount, 'modules/network'), { recursive: true })
  writeFileSync(join(mount, 'modules/network/n-1.0.0.zip'), moduleZip)
  const at = (directory: string) =>
    findingsIn(
      [
        module(
          'network',
          `provider: aws, storageConfig: {fileSystem: {directoryPath: ${directory}}}`,
        ),
        version('v', `${good}, upload: {sha256: "${digest}"}`),
      ],
      { archives: mount },
    )
  expect(await at(join(mount, 'modules'))).toEqual([])
  expect(await at(join(dir, 'elsewhere'))).toEqual([
    expect.stringMatching(
      /no-archive.*elsewhere\/network\/n-1\.0\.0\.zip: .*outside of the mounted/,
    ),
  ])
})

it('does not read pipes and archives outside of the mount, as the registry', async () => {
  const mount = join(dir, 'odd-archives')
  mkdirSync(join(mount, 'modules/network'), { recursive: true })
  execFileSync('mkfifo', [join(mount, 'modules/network/n-1.0.0.zip')])
  writeFileSync(join(dir, 'outside.zip'), 'content')
  symlinkSync(join(dir, 'outside.zip'), join(mount, 'modules/network/n-2.0.0.zip'))
  mkdirSync(join(mount, 'modules/network/n-3.0.0.zip'))
  const versions = ['1', '2', '3'].map((major) =>
    version(`v${major}`, good.replaceAll('1.0.0', `${major}.0.0`)),
  )
  expect(await findingsIn([network, ...versions], { archives: mount })).toEqual([
    expect.stringMatching(/no-archive.*n-1\.0\.0\.zip: .*it is not a file/),
    expect.stringMatching(/no-archive.*n-2\.0\.0\.zip: .*it is outside of the mount/),
    expect.stringMatching(/no-archive.*n-3\.0\.0\.zip: .*it is not a file/),
  ])
})

describe('a report', () => {
  const result = {
    findings: [
      {
        check: 'value',
        level: 'error',
        file: 'a folder/m.yaml',
        line: 3,
        object: { kind: 'Version', namespace: 'team', name: 'v' },
        field: 'spec.fileName',
        message: 'must be\n  other',
      },
    ],
    files: 2,
    objects: 5,
  } as const

  it('as text has a line for each finding', () => {
    expect(asText(result)).toBe(
      'a folder/m.yaml:3: error: Version team/v spec.fileName: must be other [value]\n' +
        '1 error, 0 warnings in 5 objects of 2 files\n',
    )
  })

  it('as JSON has every field', () => {
    expect(JSON.parse(asJson(result))).toEqual(result)
  })

  it.each([
    ['duplicate-version', 'Duplicate'],
    ['address-conflict', 'AddressTaken'],
    ['no-parent', 'ParentMissing'],
    ['not-semver', 'NotSemver'],
  ] as const)('gives %s the reason of a server, %s, in each format', (check, reason) => {
    const findings = result.findings.map((finding) => ({ ...finding, check }))
    const mistakes = { ...result, findings }
    expect(asText(mistakes)).toContain(`[${check}, ${reason}]`)
    expect(JSON.parse(asJson(mistakes)).findings).toMatchObject([{ check, reason }])
    const { runs } = JSON.parse(asSarif(mistakes, '1.2.3'))
    expect(runs[0].results).toMatchObject([{ ruleId: check, properties: { reason } }])
  })

  it('as SARIF names the rule, the file and the line', () => {
    const log = JSON.parse(asSarif(result, '1.2.3'))
    expect(log).toMatchObject({
      version: '2.1.0',
      runs: [{ tool: { driver: { version: '1.2.3' } } }],
    })
    expect(log.runs[0].tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(
      Object.keys(checks),
    )
    expect(log.runs[0].results).toEqual([
      {
        ruleId: 'value',
        level: 'error',
        message: { text: 'Version team/v spec.fileName: must be\n  other' },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: 'a%20folder/m.yaml' },
              region: { startLine: 3 },
            },
          },
        ],
      },
    ])
  })
})

it('reads the status of an object from a file of its own, and reports one that is not valid', async () => {
  const folder = join(dir, 'statuses')
  mkdirSync(folder)
  const status = (text: string) => `apiVersion: depot.internal/v1alpha1
kind: Version
metadata: {name: one, namespace: team}
status: ${text}
`
  const unnamed = good.replace('fileName: n-1.0.0.zip, ', '')
  writeFileSync(join(folder, 'all.yaml'), [network, version('one', unnamed)].join('---\n'))
  const findings = async () => {
    const options = {
      apiGroup: 'depot.internal',
      namespace: 'depot-system',
      upstreamHosts: [],
      partial: false,
    }
    const result = await lint({ compileBinding, paths: [folder], ...options })
    return result.findings.map(({ check, field }) => [check, field])
  }
  expect(await findings()).toEqual([['no-file-name', 'spec.fileName']])
  writeFileSync(join(folder, 'one.status.yaml'), status('{artifact: {fileName: n.zip}}'))
  expect(await findings()).toEqual([])
  writeFileSync(join(folder, 'one.status.yaml'), status('{checksum: 1}'))
  expect(await findings()).toContainEqual(['schema', 'status.checksum'])
})
