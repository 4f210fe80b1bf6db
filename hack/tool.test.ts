import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

const dir = mkdtempSync(join(tmpdir(), 'depot tool '))
const own = join(dir, 'tofu')
const elsewhere = join(dir, 'else where')

/** The shell and its basic commands, but neither Go nor any of the tools. */
const basics = join(dir, 'basics')

beforeAll(() => {
  mkdirSync(basics)
  mkdirSync(elsewhere)
  for (const command of ['dirname', 'ls', 'tr', 'cat', 'cksum', 'cut', 'sh']) {
    writeFileSync(join(basics, command), `#!/bin/sh\nPATH=/usr/bin:/bin exec ${command} "$@"\n`, {
      mode: 0o755,
    })
  }
  for (const path of [own, join(elsewhere, 'etcd')])
    writeFileSync(path, '#!/bin/sh\n', { mode: 0o755 })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

it.each([
  { what: 'prints what its variable names', name: 'tofu', env: { DEPOT_TOFU: own }, stdout: own },
  {
    what: 'prints what is on PATH',
    name: 'tofu',
    env: { PATH: `${basics}:${dir}` },
    stdout: own,
  },
  {
    what: 'looks into KUBEBUILDER_ASSETS',
    name: 'etcd',
    env: { KUBEBUILDER_ASSETS: elsewhere },
    stdout: join(elsewhere, 'etcd'),
  },
])('hack/tool $what', ({ name, env, stdout }) => {
  expect(tool(name, env)).toEqual({ stdout: `${stdout}\n`, stderr: '', status: 0 })
})

it.each([
  {
    what: 'that its variable names no program',
    name: 'tofu',
    env: { DEPOT_TOFU: '/nowhere/tofu' },
    stderr: 'depot: DEPOT_TOFU names /nowhere/tofu, which is not an executable file',
  },
  {
    what: 'what is missing',
    name: 'tofu',
    env: {},
    stderr:
      'depot: tofu is not on PATH, and building it needs Go, which is not there either; install one of them, or set DEPOT_TOFU',
  },
  {
    what: 'which tools there are',
    name: 'nothing',
    env: {},
    stderr: "depot: no tool 'nothing'; there is: ",
  },
])('hack/tool says $what', ({ name, env, stderr }) => {
  expect(tool(name, env)).toEqual({
    stdout: '',
    stderr: expect.stringContaining(stderr),
    status: 1,
  })
})

function tool(name: string, env: NodeJS.ProcessEnv) {
  const { stdout, stderr, status } = spawnSync(
    '/bin/sh',
    [join(import.meta.dirname, 'tool'), name],
    {
      env: { PATH: basics, DEPOT_TOOLS_DIR: join(dir, 'cache'), ...env },
      encoding: 'utf8',
    },
  )
  return { stdout, stderr, status }
}
