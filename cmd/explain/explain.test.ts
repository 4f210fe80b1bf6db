import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-explain-'))
afterAll(() => rmSync(dir, { recursive: true }))
const manifests = ['--manifests', dir]

const start = (...args: readonly string[]) => runProgram(dir, args)

describe('explain', () => {
  const binding = (name: string, expression: string, namespace = 'depot-system') => `---
apiVersion: depot.internal/v1alpha1
kind: GroupBinding
metadata: {name: ${name}, namespace: ${namespace}}
spec: {expression: '${expression}', moduleResources: ['vpc-*'], providerResources: []}
`
  writeFileSync(
    join(dir, 'bindings.yaml'),
    binding('a', '"a" in groups') +
      binding('b', '"b" in groups') +
      binding('c', 'groups[') +
      binding('0-elsewhere', 'true', 'team'),
  )

  it.each([
    ['a,b', [/a: true +<- decides/, /b: true\n/, /a matches/, /modules: vpc-\*/]],
    ['b', [/a: false\n/, /b: true +<- decides/, /c: InvalidSyntax/]],
    ['x', [/c: InvalidSyntax.* +<- decides/, /groups\[\n/, /denied \(403\)/]],
    ['', [/Groups: none/, /denied/]],
  ])('explains the result for the groups %j', async (groups, patterns) => {
    const { status, stdout } = await start('explain', ...manifests, '--groups', groups)
    expect(status).toBe(0)
    for (const pattern of patterns) expect(stdout).toMatch(pattern)
    expect(stdout).not.toContain('elsewhere')
  })

  it('explains as JSON', async () => {
    const { stdout } = await start('explain', ...manifests, '--groups', 'a', '-o', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      groups: ['a'],
      decision: 'matched',
      decidedBy: 'a',
      bindings: [{ name: 'a', result: 'true', decides: true }, { name: 'b' }, { name: 'c' }],
      modules: ['vpc-*'],
    })
  })

  it('explains which bindings do not count for jobs of CI, and what these jobs may publish', async () => {
    const jobs = mkdtempSync(join(dir, 'jobs-'))
    const all = binding('all', 'not ("contractors" in groups)')
    const publishing = `${binding('ci', '"gha:repository_id:74" in groups').slice(0, -2)}, publishNamespaces: [team], publishModules: [vpc]}\n`
    writeFileSync(join(jobs, 'bindings.yaml'), all + publishing)
    const explained = async (...more: readonly string[]) =>
      (await start('explain', '--manifests', jobs, '--groups', 'gha:repository_id:74', ...more))
        .stdout
    expect(await explained()).toMatch(/all: true +<- decides/)
    const stdout = await explained('--job')
    expect(stdout).toContain('all: true, and does not count for jobs, because it needs no group\n')
    expect(stdout).toMatch(/ci: true +<- decides/)
    expect(stdout).toContain('and publishes in team\n  modules: vpc\n  providers: none\n')
    expect(JSON.parse(await explained('--job', '-o', 'json'))).toMatchObject({
      decidedBy: 'ci',
      publishes: { namespaces: ['team'], modules: ['vpc'] },
    })
  })

  it('explains which part of an expression decides', async () => {
    const rule = '"x" in groups || "a" in groups and not ("b" in groups) and len(groups) > 1'
    const { stdout, status } = await start('explain', '--groups', 'a,b', '--expression', rule)
    expect(stdout).toBe(`false: ${rule}
  false: "x" in groups
  false: "a" in groups and not ("b" in groups) and len(groups) > 1
    true: "a" in groups
    false: not ("b" in groups)
    true: len(groups) > 1
`)
    expect(status).toBe(0)
    const { stdout: failed } = await start('explain', '--expression', '"a" in grups', '-o', 'json')
    expect(JSON.parse(failed)).toMatchObject({ result: expect.stringContaining('grups') })
  })

  it('explains which object has an address, and why Versions of a number are not served', async () => {
    const folder = mkdtempSync(join(dir, 'modules-'))
    const module = (name: string) => `---
apiVersion: depot.internal/v1alpha1
kind: Module
metadata: {name: ${name}, namespace: team}
spec: {moduleConfig: {name: vpc, provider: aws, storageConfig: {fileSystem: {directoryPath: vpc}}}}
`
    const version = (name: string) => `---
apiVersion: depot.internal/v1alpha1
kind: Version
metadata: {name: ${name}, namespace: team}
spec:
  type: Module
  version: 1.0.0
  moduleConfigRef: {name: vpc}
  upload: {sha256: ${'a'.repeat(64)}, fileName: vpc.zip}
`
    writeFileSync(join(folder, 'a.yaml'), module('vpc') + module('other'))
    writeFileSync(join(folder, 'b.yaml'), version('first') + version('second'))
    const { stdout, status } = await start(
      'explain',
      'team/vpc/aws',
      '1.0.0',
      '--manifests',
      folder,
    )
    expect(stdout).toBe(`Address team/vpc/aws:
  module team/other does not have it (it is other/aws): AddressTaken, its address vpc/aws is that of vpc, so it is served as other alone: give it another name in its config
  module team/vpc has it
Versions of that number:
  team/first is served
  team/second is not served: Duplicate, duplicate of first, which has the same content: remove it
`)
    expect(status).toBe(0)
    const json = await start('explain', 'team/vpc/aws', '--manifests', folder, '-o', 'json')
    expect(JSON.parse(json.stdout)).toMatchObject({ claims: [{ name: 'other' }, { name: 'vpc' }] })
    const nothing = await start('explain', 'team/none', '--manifests', folder)
    expect([nothing.status, nothing.stderr]).toEqual([
      2,
      expect.stringContaining('no module or provider has the address "team/none"'),
    ])
  })

  it('needs a folder or a cluster to read bindings from', async () => {
    const { status, stderr } = await start('explain', '--groups', 'a')
    expect([status, stderr]).toEqual([2, expect.stringContaining('--manifests')])
  })
})
