import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-lifecycle-'))
afterAll(() => rmSync(dir, { recursive: true }))

const file = join(dir, 'registry/net.yaml')
const written = () => readFileSync(file, 'utf8')
const manifest = `# Owned by the network team.
apiVersion: depot.internal/v1alpha1
kind: Module
metadata:
  name: net
  namespace: platform
spec:
  # The storage of the team.
  moduleConfig:
    provider: aws
    storageConfig: { fileSystem: { directoryPath: modules } }
---
apiVersion: depot.internal/v1alpha1
kind: Version
metadata: { name: net-1.0.0, namespace: platform }
spec: { type: Module, version: 1.0.0, fileName: net.zip, moduleConfigRef: { name: net } }
`
beforeEach(() => {
  mkdirSync(join(dir, 'registry'), { recursive: true })
  writeFileSync(file, manifest)
})
const run = (...args: readonly string[]) => runProgram(dir, [...args, '--manifests', 'registry'])

it('adds a rule to a hand-written file, and removes it without a trace', async () => {
  const note = ['--message', 'leaks keys', '--replaced-by', '1.0.1']
  const { status, stdout } = await run('quarantine', 'platform/net/aws', '<= 1.0.0', ...note)
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: `Module platform/net
+ <= 1.0.0 is Quarantined: leaks keys; use 1.0.1 instead
Affected versions:
  1.0.0: Active -> Quarantined
To undo it: depot activate platform/net/aws "<= 1.0.0" --manifests registry
`,
  })
  expect(written()).toContain('# Owned by the network team.')
  expect(written()).toContain('# The storage of the team.')
  expect(written()).toMatch(/lifecycle:\s+- versions: "?<= 1.0.0"?\s+state: Quarantined\s+message/)
  const changed = await run('quarantine', 'platform/net/aws', '<=v1.0.0')
  expect(changed.stdout).toContain('- <= 1.0.0 is Quarantined: leaks keys; use 1.0.1 instead\n')
  expect(changed.stdout).toContain('+ <=v1.0.0 is Quarantined\n')
  expect(changed.stdout).toContain('  1.0.0 stays Quarantined\n')
  expect(changed.stdout).toContain(
    'To undo it: depot activate platform/net/aws "<=v1.0.0" --manifests registry && depot quarantine platform/net/aws "<= 1.0.0" --message "leaks keys" --replaced-by 1.0.1 --manifests registry\n',
  )
  expect((await run('activate', 'platform/net/aws', '<= 1.0.0')).stdout).toContain(
    '- <=v1.0.0 is Quarantined\nAffected versions:\n  1.0.0: Quarantined -> Active\n',
  )
  expect(written()).toBe(manifest)
})

it.each(['deprecate', 'yank'])('does not release a quarantined version by %s', async (verb) => {
  await run('quarantine', 'platform/net/aws', '1.0.0')
  const quarantined = written()
  const { status, stderr } = await run(verb, 'platform/net/aws', '= v1.0.0')
  expect({ status, stderr }).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('depot activate platform/net/aws "= v1.0.0" first'),
  })
  expect(written()).toBe(quarantined)
})

it('says which versions do not change because another rule takes precedence', async () => {
  await run('quarantine', 'platform/net/aws', '< 2.0.0', '--message', 'leaks keys')
  const { stdout } = await run('yank', 'platform/net/aws', '1.0.0')
  expect(stdout).toContain('Affected versions:\n  1.0.0 stays Quarantined: leaks keys\n')
})

it('lists the remaining rules, with the command that removes each', async () => {
  await run('deprecate', 'platform/net/aws', '< 2.0.0', '--message', 'old')
  await run('yank', 'platform/net/aws', '1.0.0')
  expect((await run('activate', 'platform/net/aws', '~> 1.0')).stderr).toContain(
    'no rule has the versions "~> 1.0": remove a rule with depot activate platform/net/aws 1.0.0 --manifests registry, or depot activate platform/net/aws "< 2.0.0" --manifests registry\n',
  )
  expect((await run('activate', 'platform/net/aws', 'v1.0.0')).stdout).toContain(
    '  1.0.0: Yanked -> Deprecated\nAnother rule stays; to remove it, too: depot activate platform/net/aws "< 2.0.0" --manifests registry\n',
  )
})

it('refuses an address that two Modules share', async () => {
  const named = (name: string) =>
    manifest
      .replace('name: net\n  namespace', `name: ${name}\n  namespace`)
      .replace('moduleConfig:\n', 'moduleConfig:\n    name: shared\n')
  const [a, b] = [named('a-net').split('---')[0], named('b-net').split('---')[0]]
  const both = `${a}---\n${b}`
  writeFileSync(file, both)
  const { status, stderr } = await run('yank', 'platform/shared/aws', '1.0.0')
  expect({ status, stderr }).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('several objects have this address: a-net, b-net'),
  })
  expect(written()).toBe(both)
})

it('writes nothing with --dry-run', async () => {
  const { stdout } = await run('yank', 'platform/net/aws', '9.9.9', '--dry-run')
  expect(stdout).toContain('+ 9.9.9 is Yanked\nNo existing version matches.\nNothing was')
  expect(written()).toBe(manifest)
})

it.each([
  [['yank', 'platform/net/aws', '1.x'], 'versions must be a version constraint'],
  [['yank', 'platform/net/aws', '1.0.0', '--link', 'javascript:x'], 'link must be an https URL'],
  [
    ['yank', 'platform/net/aws', '< 2.0.0', '--replaced-by', 'v1.0.1'],
    '--replaced-by: v1.0.1 is one of the versions < 2.0.0: name another version',
  ],
  [['yank', 'platform/nothing/aws', '1.0.0'], 'there is no platform/nothing/aws'],
  [['yank', 'platform/net/aws/x', '1.0.0'], 'there is no platform/net/aws/x'],
  [['yank', 'platform/net/gcp', '1.0.0'], 'there is no platform/net/gcp'],
  [['yank', 'platform/net/aws'], 'one constraint in quotes'],
  [['activate', 'platform/net/aws', '1.0.0'], 'there are no rules'],
])('refuses %j', async (args, message) => {
  const { status, stderr } = await run(...args)
  expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining(message) })
  expect(written()).toBe(manifest)
})
