import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { bareEnvironment } from '../../hack/testbed/environment.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-explain-'))
afterAll(() => rmSync(dir, { recursive: true }))
const manifests = ['--manifests', dir]

const start = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, '../depot/main.ts'), ...args], {
    encoding: 'utf8',
    env: bareEnvironment,
    timeout: 60_000,
  })

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
  ])('explains the result for the groups %j', (groups, patterns) => {
    const { status, stdout } = start('explain', ...manifests, '--groups', groups)
    expect(status).toBe(0)
    for (const pattern of patterns) expect(stdout).toMatch(pattern)
    expect(stdout).not.toContain('elsewhere')
  })

  it('explains as JSON', () => {
    const { stdout } = start('explain', ...manifests, '--groups', 'a', '-o', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      groups: ['a'],
      decision: 'matched',
      decidedBy: 'a',
      bindings: [{ name: 'a', result: 'true', decides: true }, { name: 'b' }, { name: 'c' }],
      modules: ['vpc-*'],
    })
  })

  it('needs a folder or a cluster to read bindings from', () => {
    const { status, stderr } = start('explain', '--groups', 'a')
    expect([status, stderr]).toEqual([2, expect.stringContaining('--manifests')])
  })
})
