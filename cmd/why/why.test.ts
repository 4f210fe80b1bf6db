import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-why-'))
afterAll(() => rmSync(dir, { recursive: true }))
for (const name of ['registry', 'tmp']) mkdirSync(join(dir, name))

const condition = (type: string, status: string, reason: string, message: string) =>
  `{type: ${type}, status: "${status}", reason: ${reason}, message: ${JSON.stringify(message)}, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}`
const storageConfig = '{fileSystem: {directoryPath: team}}'
writeFileSync(
  join(dir, 'registry/all.yaml'),
  `apiVersion: depot.internal/v1alpha1
kind: Depot
metadata: {name: main, namespace: team}
spec:
  global: {storageConfig: ${storageConfig}}
  moduleConfigs:
    - {name: vpc, provider: aws, repoUrl: "https://github.com/acme/vpc", versionConstraints: "~> 1.0"}
status:
  lastPoll: "2026-01-02T03:04:05Z"
  items: [{kind: Module, name: vpc, found: 7, matched: 2}]
---
apiVersion: depot.internal/v1alpha1
kind: Module
metadata: {name: vpc, namespace: team, uid: vpc, labels: {depot.internal/depot: main}}
spec:
  moduleConfig: {name: vpc, provider: aws, repoUrl: "https://github.com/acme/vpc", versionConstraints: "~> 1.0", storageConfig: ${storageConfig}}
  versions: [{version: 1.0.0}, {version: 1.1.0}]
status:
  versionCounts: {wanted: 2, synced: 1, failed: 1, listed: 2}
  conditions:
    - ${condition('Ready', 'False', 'PartiallySynced', '1 of 2 failed; vpc-1-1-0: it is a page')}
    - ${condition('RemovalHeld', 'True', 'RemovalHeld', '9 of 9 stay: undo it, or remove them with: depot sync --confirm-removals')}
---
apiVersion: depot.internal/v1alpha1
kind: Version
metadata: {name: vpc-1-1-0, namespace: team, ownerReferences: [{apiVersion: depot.internal/v1alpha1, kind: Module, name: vpc, uid: vpc, controller: true}]}
spec: {type: Module, version: 1.1.0, moduleConfigRef: {name: vpc, provider: aws, repoUrl: "https://github.com/acme/vpc"}}
status:
  synced: false
  attempted: {sourceKey: "sha256:0", revision: "v1.1.0@sha1:abc", at: "2026-01-02T03:04:06Z", failures: 3}
  conditions:
    - ${condition('Ready', 'False', 'NotAnArchive', 'it is a page')}
    - ${condition('Stalled', 'True', 'NotAnArchive', 'it is a page')}
`,
)
writeFileSync(
  join(dir, 'registry/breaking.yaml'),
  `apiVersion: depot.internal/v1alpha1
kind: Version
metadata: {name: dns-1-1-0, namespace: team}
spec: {type: Module, version: 1.1.0, moduleConfigRef: {name: dns, repoUrl: "https://github.com/acme/dns"}}
status:
  synced: false
  conditions:
    - ${condition('Ready', 'False', 'BreakingChange', 'breaks callers of 1.0.0')}
    - ${condition('SemVer', 'False', 'BreakingChange', 'breaks callers of 1.0.0: input x')}
    - ${condition('Stalled', 'True', 'BreakingChange', 'breaks callers of 1.0.0')}
`,
)
writeFileSync(
  join(dir, 'registry/withdrawn.yaml'),
  `apiVersion: depot.internal/v1alpha1
kind: Version
metadata: {name: old-1-0-0, namespace: team}
spec: {type: Module, version: 1.0.0, moduleConfigRef: {name: old, repoUrl: "https://github.com/acme/old"}}
status:
  synced: true
  lifecycle: {state: Quarantined, message: leaks keys, replacedBy: 1.1.0}
  conditions:
    - ${condition('Ready', 'True', 'Synced', 'it is stored')}
`,
)
writeFileSync(
  join(dir, 'registry/failing.yaml'),
  `apiVersion: depot.internal/v1alpha1
kind: Depot
metadata: {name: failing, namespace: team}
spec:
  global: {storageConfig: ${storageConfig}}
  moduleConfigs: [{name: typo, provider: aws, repoUrl: "https://github.com/acme/tpyo"}]
status:
  lastPoll: "2026-01-02T03:04:05Z"
  items: [{kind: Module, name: typo, message: 'github.com answered with status 404'}]
  retained: 0
  skipped: 0
  conditions:
    - ${condition('Ready', 'False', 'SyncFailed', '1 of 1 configs failed; typo: github.com answered with status 404')}
`,
)
for (const [name, answer] of [
  ['refused', '403 AccessDenied'],
  ['busy', '503 SlowDown'],
] as const) {
  writeFileSync(
    join(dir, `registry/${name}.yaml`),
    `apiVersion: depot.internal/v1alpha1
kind: Version
metadata: {name: ${name}-1-0-0, namespace: team}
spec: {type: Module, version: 1.0.0, moduleConfigRef: {name: ${name}, repoUrl: "https://github.com/acme/${name}"}}
status:
  synced: false
  conditions:
    - ${condition('Ready', 'False', 'StorageFailed', `the archive storage does not work (s3 archives answered ${answer})`)}
`,
  )
}
const why = (...args: readonly string[]) =>
  runProgram(dir, ['why', ...args, '--manifests', 'registry'])

it('prints the request, the answer, the decision, and the command that solves the problem', async () => {
  const { status, stdout, stderr } = await why('team/vpc')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toBe(`Module team/vpc
  asked:     versions of https://github.com/acme/vpc, with the constraint "~> 1.0", for Depot main
  answered:  7 versions, 2 of them wanted (asked at 2026-01-02T03:04:05Z)
  decided:   2 wanted, 1 stored, 1 failed; Ready=False PartiallySynced: 1 of 2 failed; vpc-1-1-0: it is a page; RemovalHeld=True RemovalHeld: 9 of 9 stay: undo it, or remove them with: depot sync --confirm-removals
  mend it:   depot sync --confirm-removals

Version team/vpc-1-1-0
  asked:     1.1.0 of https://github.com/acme/vpc
  answered:  refused: v1.1.0@sha1:abc at 2026-01-02T03:04:06Z, 3 times
  decided:   Ready=False NotAnArchive: it is a page
  mend it:   change what the message names, then: depot sync --manifests registry

Address team/vpc:
  module team/vpc has it
`)
})

it('prints the state of a version and its reason', async () => {
  const { stdout } = await why('team/old-1-0-0')
  expect(stdout).toContain('  decided:   Quarantined: leaks keys; use 1.1.0 instead; Ready=True')
})

it('names the field that accepts a version that breaks callers', async () => {
  const { stdout } = await why('team/dns-1-1-0')
  expect(stdout).toContain('SemVer=False BreakingChange: breaks callers of 1.0.0: input x')
  expect(stdout).toContain(
    'mend it:   set spec.acceptBreaking: true in its manifest, then: depot sync --manifests registry\n',
  )
})

it.each([
  ['refused', 'change what the message names, then: depot sync --manifests registry'],
  ['busy', 'nothing, the next run tries again: depot sync --manifests registry'],
])('says whether another run helps a version whose storage is %s', async (name, remedy) => {
  const { stdout } = await why(`team/${name}-1-0-0`)
  expect(stdout).toContain(`mend it:   ${remedy}\n`)
  const named = await why(`team/${name}-1-0-0`, '--archives', 'stored')
  expect(named.stdout).toContain(`mend it:   ${remedy} --archives stored\n`)
})

it('finds a Version by an address and its number, and answers in JSON', async () => {
  const { stdout } = await why('team/vpc/aws', 'v1.1.0', '-o', 'json')
  expect(JSON.parse(stdout)).toMatchObject({
    schema: 1,
    stories: [{ object: 'Module team/vpc' }, { object: 'Version team/vpc-1-1-0' }],
    served: { address: 'team/vpc/aws', versions: [{ name: 'vpc-1-1-0' }] },
  })
})

it.each([
  [['team/vpcs'], 'there is no team/vpcs: did you mean team/vpc?'],
  [['nobody/vpc'], 'namespace nobody has no objects: check the namespace'],
  [['vpc'], '"vpc": write NAMESPACE/NAME and at most one version'],
  [['team/vpc', '9.0.0'], 'team/vpc has no Version 9.0.0'],
])('reports the mistake in %j', async (args, message) => {
  const { status, stderr } = await why(...args)
  expect(status).toBe(2)
  expect(stderr).toContain(message)
})

it('shows the Depot that asks for a module which upstream never had', async () => {
  const { stdout, status } = await why('team/typo')
  expect(stdout).toContain('Depot team/failing\n')
  expect(stdout).toContain('at 2026-01-02T03:04:05Z; typo: github.com answered with status 404\n')
  expect(stdout).toContain('mend it:')
  expect(status).toBe(0)
})

it('shows the config in question first, and none for another system', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `m${index}`)
  writeFileSync(
    join(dir, 'registry/many.yaml'),
    `apiVersion: depot.internal/v1alpha1
kind: Depot
metadata: {name: many, namespace: large}
spec:
  global: {storageConfig: ${storageConfig}}
  moduleConfigs: [${names.map((name) => `{name: ${name}, provider: aws, repoOwner: acme}`).join(', ')}]
  providerConfigs:
status:
  lastPoll: "2026-01-02T03:04:05Z"
  items: [${names.map((name) => `{kind: Module, name: ${name}, message: no ${name}}`).join(', ')}]
`,
  )
  const { stdout } = await why('large/m11')
  expect(stdout).toContain('at 2026-01-02T03:04:05Z; m11: no m11; m0: no m0; ')
  expect((await why('large/m11/azurerm')).stderr).toContain('large')
  expect((await why('large/m11/azurerm')).stdout).toBe('')
  expect((await why('large/m12')).status).toBe(2)
})
