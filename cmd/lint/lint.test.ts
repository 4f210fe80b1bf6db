import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { bareEnvironment } from '../../hack/testbed/environment.ts'

const root = join(import.meta.dirname, '../..')
const lint = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(root, 'cmd/depot/main.ts'), 'lint', ...args], {
    cwd: root,
    encoding: 'utf8',
    env: bareEnvironment,
    timeout: 60_000,
  })

it('finds nothing in the samples of this project', () => {
  expect(lint('config/samples')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^0 errors, 0 warnings in \d+ objects of \d+ files\n$/),
  })
})

it('exits with 1 after an error, and prints SARIF for a code host', () => {
  const { status, stdout } = lint(
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
])('exits with 2 if a path cannot be checked: %j', (args, problem) => {
  expect(lint(...args)).toMatchObject({ status: 2, stderr: expect.stringContaining(problem) })
})
