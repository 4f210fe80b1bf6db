import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { bareEnvironment } from '../../hack/testbed/environment.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { commands } from './depot.ts'

const root = join(import.meta.dirname, '../..')
const depot = (...args: readonly string[]) =>
  spawnSync(join(root, 'depot'), args, {
    encoding: 'utf8',
    env: { ...bareEnvironment, HOME: process.env['HOME'] ?? '' },
    timeout: 60_000,
  })

it.each([[[]], [['--help']], [['help']]])(
  'lists its commands when it is called with %j',
  (args) => {
    const { status, stdout } = depot(...args)
    expect(status).toBe(0)
    for (const name of Object.keys(commands)) expect(stdout).toContain(`  ${name} `)
  },
)

it.each(Object.keys(commands))('%s has help and a version', (name) => {
  expect(depot(name, '--help')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(`Usage: depot ${name} [flags]`),
  })
  expect(depot(name, '--version')).toMatchObject({ status: 0, stdout: `${packageJson.version}\n` })
})

it('refuses an unknown command and lists the known ones', () => {
  const { status, stderr } = depot('serve')
  expect(status).toBe(2)
  expect(stderr).toMatch(/^depot: there is no command "serve"\n/)
  expect(stderr).toContain('  server ')
})
