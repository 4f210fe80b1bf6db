import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-policy-'))
afterAll(() => rmSync(dir, { recursive: true }))
const write = (file: string, content: string) => writeFileSync(join(dir, file), content)
const vpc = 'github.com/acme/terraform-aws-vpc'

mkdirSync(join(dir, 'registry'))
write(
  'registry/depot.yaml',
  `apiVersion: depot.internal/v1alpha1
kind: Depot
metadata: { name: public, namespace: platform }
spec:
  policy:
    minimumAge: 7d
    deny:
    - { address: ${vpc}, versions: 5.1.0, reason: published with a stolen token }
    - { address: github.com/old/**, reason: abandoned, until: 2020-01-01 }
    exceptions:
    - { address: ${vpc}, version: 5.1.1, reason: fixes CVE-2026-0001, by: Ann Lee }
    rule: { expression: upstream.namespace != "evil", reason: not theirs }
---
apiVersion: depot.internal/v1alpha1
kind: Module
metadata: { name: vpc, namespace: platform }
spec:
  moduleConfig: { provider: aws }
  versions: []
status:
  listing:
    address: ${vpc}
    depot: platform/public
    heldBack:
    - { version: v5.1.0, since: 2026-11-26T10:00:00Z, why: Denied, message: 'denied: stolen', by: Installation }
    - { version: v5.2.0, since: 2026-11-26T10:00:00Z, until: 2026-12-03T10:00:00Z }
    - { version: v5.3.0, since: 2026-11-27T10:00:00Z, until: 2026-12-04T10:00:00Z, why: TooYoung, message: upstream replaced it }
`,
)
write(
  'kinds.yaml',
  `apiVersion: depot.internal/v1alpha1
kind: Depot
metadata: { name: kinds, namespace: platform }
spec:
  providerConfigs: [{ name: aws }]
  global: { moduleConfig: { provider: aws } }
  moduleConfigs: [{ name: vpc, repoUrl: "https://github.com/Acme/terraform-aws-vpc" }]
  policy:
    requireSignature: true
    rule: { expression: upstream.type == "aws" or upstream.system == "aws", reason: aws only }
`,
)
write(
  'typo.yaml',
  'apiVersion: depot.internal/v1alpha1\nkind: Depot\nmetadata: { name: typo, namespace: platform }\nspec: { policy: { minimumage: 7d } }\n',
)
write('age.yaml', 'rule: { expression: upstream.ageHours > 24, reason: young }\n')
write(
  'signer.yaml',
  'rule: { expression: upstream.signedBy == "A" or upstream.licence == "MIT", reason: ours }\n',
)
write('type.yaml', 'rule: { expression: upstream.type == "aws", reason: aws only }\n')
write('system.yaml', 'rule: { expression: upstream.system == "aws", reason: aws only }\n')
write(
  'signed.yaml',
  'requireSignature: true\ntrustedKeys: [0123456789ABCDEF0123456789ABCDEF01234567]\ntrustFirstListing: false\n',
)
write('strict.yaml', 'minimumAge: 14d\n')
write('broken.yaml', '{}\n')
write('wrong.yaml', 'minimumAge: 14d\ndeny: all\n')
const file = ['--depot', 'registry/depot.yaml']
const test = (address: string, ...more: readonly string[]) =>
  runProgram(dir, ['policy', 'test', address, ...more])

it.each([
  [
    `${vpc}@5.1.0`,
    [],
    1,
    `is refused
  by the policy of Depot platform/public: denied: published with a stolen token
  an exception of the same policy lets it in
`,
  ],
  [
    `${vpc}@v5.1.1`,
    [],
    0,
    `comes in at once
  the exception of Ann Lee names it: fixes CVE-2026-0001
`,
  ],
  [
    `${vpc}@5.1.1`,
    ['--upstream-policy', 'strict.yaml'],
    1,
    `is held back
  until it is 14 days old, by the policy of the installation
  the exception of Ann Lee names it: fixes CVE-2026-0001
`,
  ],
  [
    `${vpc}@5.2.0`,
    [],
    1,
    `is held back
  until it is 7 days old, by the policy of Depot platform/public
`,
  ],
  [
    'github.com/evil/vpc@1.0.0',
    [],
    1,
    `is refused
  by the policy of Depot platform/public: refused by the rule: not theirs
`,
  ],
  [
    vpc,
    [],
    1,
    `has rules
  minimum age: 7 days
  deny: 5.1.0 of ${vpc}: published with a stolen token
  rule: upstream.namespace != "evil": not theirs
  exception: 5.1.1 of ${vpc}, by Ann Lee: fixes CVE-2026-0001
`,
  ],
])('says whether a policy lets %s in with %j', async (address, more, status, text) => {
  const result = await test(address, ...file, ...more)
  const [what = '', version] = address.split('@')
  const named = version === undefined ? what : `${what} ${version}`
  expect(result).toEqual({
    status,
    stdout: `Depot platform/public: ${named} ${text}`,
    stderr: '',
  })
})

it.each([
  ['registry.opentofu.org/hashicorp/aws@5.0.0', ['--depot', 'kinds.yaml'], 0, 'comes in at once'],
  [`${vpc}@5.0.0`, ['--depot', 'kinds.yaml'], 0, 'providers need a signature\n'],
  [
    `${vpc}@5.0.0`,
    ['--upstream-policy', 'age.yaml'],
    1,
    '5.0.0 depends\n  on its age, by the policy',
  ],
  [
    'r.test/hashicorp/aws@5.0.0',
    ['--upstream-policy', 'type.yaml'],
    1,
    '5.0.0 depends\n  on what the address names (--depot tells), ',
  ],
  [`${vpc}@5.0.0`, ['--upstream-policy', 'system.yaml'], 1, '5.0.0 depends\n  on its system, '],
  [
    'registry.opentofu.org/hashicorp/aws@5.0.0',
    ['--depot', 'kinds.yaml', '--upstream-policy', 'signer.yaml'],
    1,
    '5.0.0 depends\n  on who signed it and its licence, by the policy of the installation',
  ],
  [
    `${vpc}@5.0.0`,
    ['--depot', 'kinds.yaml', '--upstream-policy', 'signer.yaml'],
    1,
    '5.0.0 depends\n  on its licence, by the policy of the installation',
  ],
  [
    `${vpc}@5.0.0`,
    ['--upstream-policy', 'signed.yaml'],
    0,
    `  the policy has no rules for versions, but it has others:
  installation: providers need a signature
  installation: providers need a signature by one of 1 trusted keys
  installation: a first list without dates is not trusted
`,
  ],
])('names the facts that the rules for %s need with %j', async (address, args, status, text) => {
  const result = await test(address, ...args)
  expect(result.stdout).toContain(text)
  expect(result.status).toBe(status)
})

it('tests the policy of the installation without a Depot', async () => {
  const result = await test(`${vpc}@5.1.0`, '--upstream-policy', 'broken.yaml', '-o', 'json')
  expect(result.status).toBe(0)
  expect(JSON.parse(result.stdout)).toMatchObject({ verdicts: [{ state: 'ComesIn' }] })
})

it.each([
  [['test', vpc], 'name a Depot with --depot FILE, or a policy with --upstream-policy'],
  [['test', vpc, '--depot', 'none.yaml'], '--depot: none.yaml: does not exist'],
  [['test', vpc, '--depot', 'strict.yaml'], '--depot: strict.yaml contains no Depot'],
  [['test', vpc, '--upstream-policy', 'wrong.yaml'], '--upstream-policy: wrong.yaml:2: deny '],
  [
    ['test', vpc, '--depot', 'typo.yaml'],
    'typo.yaml: Depot platform/typo spec.policy.minimumage is not a known field: write minimumAge',
  ],
  [['show'], 'write test ADDRESS[@VERSION], or list'],
])('reports the mistake in %j', async (args, message) => {
  const { status, stderr } = await runProgram(dir, ['policy', ...args])
  expect(status).toBe(2)
  expect(stderr).toContain(message)
})

it('lists which versions are held back until when, and which are refused', async () => {
  const held = (...more: readonly string[]) =>
    runProgram(dir, ['policy', 'list', '--held', '--manifests', 'registry', ...more])
  expect((await held()).stdout).toBe(
    `Module platform/vpc v5.2.0 (${vpc}): until 2026-12-03T10:00:00Z
Module platform/vpc v5.3.0 (${vpc}): until 2026-12-04T10:00:00Z; upstream replaced it
Module platform/vpc v5.1.0 (${vpc}): denied: stolen (policy of the installation)
3 held back
`,
  )
  expect(JSON.parse((await held('-o', 'json')).stdout)).toMatchObject({
    held: [
      { version: 'v5.2.0' },
      { version: 'v5.3.0', message: 'upstream replaced it' },
      { version: 'v5.1.0', by: 'Installation' },
    ],
  })
})

it('lists the rules of all Depots', async () => {
  const args = ['policy', 'list', '--manifests', 'registry', '--upstream-policy', 'strict.yaml']
  const { stdout } = await runProgram(dir, args)
  expect(stdout).toMatch(/^Depot platform\/public\n {2}installation: minimum age: 14 days\n/)
  expect(stdout).toContain('  deny until 2020-01-01 (ended): every version of github.com/old/**: ')
})
