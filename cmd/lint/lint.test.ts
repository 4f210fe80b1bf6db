import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'
import { zipOf } from '../../hack/testbed/registry/archives.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-lint-command-'))
afterAll(() => rmSync(dir, { recursive: true }))

const root = join(import.meta.dirname, '../..')
const lint = (...args: readonly string[]) => depot('lint', ...args)
const depot = (...args: readonly string[]) => runProgram(root, args)

it('finds no mistake in the samples of this project', async () => {
  expect(await lint('config/samples')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^0 errors, 0 warnings in \d+ objects of \d+ files\n$/),
  })
})

it('exits with 1 after an error, and prints SARIF for a code host', async () => {
  const { status, stdout } = await lint(
    'config/samples/hello.yaml',
    'config/samples/hello.yaml',
    '--format',
    'sarif',
  )
  expect(status).toBe(1)
  expect(JSON.parse(stdout).runs[0].results[0]).toMatchObject({ ruleId: 'duplicate-object' })
})

it.each([
  [[], 'an argument is missing: write depot lint PATH…'],
  [['nowhere'], 'nowhere does not exist: name a file'],
  [['config/samples', '--archives', 'nowhere'], '--archives: the folder nowhere does not exist'],
  [['config/samples', '-o', 'xml'], 'is not an output format: write text, json or sarif'],
])('exits with 2 if a path cannot be checked: %j', async (args, problem) => {
  expect(await lint(...args)).toMatchObject({ status: 2, stderr: expect.stringContaining(problem) })
})

it('exits with 1 if a module in an archive cannot be parsed, with the message of depot docs', async () => {
  const manifests = join(dir, 'manifests')
  const archive = join(dir, 'archives/modules/vpc/vpc-1.0.0.zip')
  mkdirSync(manifests)
  mkdirSync(join(archive, '..'), { recursive: true })
  writeFileSync(
    join(manifests, 'vpc.yaml'),
    `apiVersion: depot.internal/v1alpha1
kind: Module
metadata: {name: vpc, namespace: team}
spec: {moduleConfig: {provider: aws, storageConfig: {fileSystem: {directoryPath: modules}}}}
---
apiVersion: depot.internal/v1alpha1
kind: Version
metadata: {name: vpc-1.0.0, namespace: team}
spec: {type: Module, version: 1.0.0, fileName: vpc-1.0.0.zip, moduleConfigRef: {name: vpc}}
`,
  )
  const broken = Buffer.from('variable "x" {\n  type =\n}\n')
  writeFileSync(
    archive,
    await zipOf([
      { path: 'main.tf', content: Buffer.from('variable "cidr" {}\n') },
      { path: 'modules/a/inputs.tf', content: broken },
      { path: 'examples/b/main.tf', content: broken },
    ]),
  )
  const documented = await depot('docs', archive)
  const problems = documented.stderr.trim().split('\n').toSorted()
  expect(documented.status).toBe(1)
  expect(problems).toEqual([
    expect.stringMatching(/^depot: examples\/b\/main\.tf:2: Invalid expression: /),
    expect.stringMatching(/^depot: modules\/a\/inputs\.tf:2: Invalid expression: /),
  ])
  const linted = await lint(manifests, '--archives', join(dir, 'archives'))
  expect(linted.status).toBe(1)
  for (const problem of problems) {
    const said = problem.replace(/^depot: /, '')
    expect(linted.stdout).toContain(`spec.fileName: the archive ${archive}: ${said} [bad-module]`)
  }
  expect((await lint(manifests)).status).toBe(0)
})
