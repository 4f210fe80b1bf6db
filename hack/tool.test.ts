import { execFile, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'

const run = promisify(execFile)

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
      'depot: tofu is not on PATH, and building it needs go, which is not there either; install one of them, or set DEPOT_TOFU',
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

it('hack/tool builds a tool once, however many ask for it at the same time', async () => {
  const built = join(dir, 'built')
  const tools = folderOf(
    'slow',
    `version=1\nneeds=sh\nmake_tool() {\n  echo built >> "${built}"; sleep 1\n  printf '#!/bin/sh\\n' > "$binary"; chmod +x "$binary"\n}\n`,
  )
  const env = { PATH: process.env['PATH'] ?? '', DEPOT_TOOLS_DIR: join(dir, 'cache of all') }
  const runs = await Promise.all([1, 2, 3].map(() => run(join(tools, 'tool'), ['slow'], { env })))
  expect(new Set(runs.map(({ stdout }) => stdout)).size).toBe(1)
  expect(readFileSync(built, 'utf8')).toBe('built\n')
})

it('hack/tool takes over the lock of a build that was killed', async () => {
  const tools = folderOf(
    'quick',
    `version=1\nneeds=sh\nmake_tool() { printf '#!/bin/sh\\n' > "$binary"; chmod +x "$binary"; }\n`,
  )
  const cache = join(dir, 'cache of a killed build')
  mkdirSync(join(cache, '.build-lock'), { recursive: true })
  const { pid } = spawnSync('true')
  writeFileSync(join(cache, '.build-lock/pid'), `${pid}\n`)
  const env = { PATH: process.env['PATH'] ?? '', DEPOT_TOOLS_DIR: cache }
  const { stdout } = await run(join(tools, 'tool'), ['quick'], { env })
  expect(stdout).toMatch(/\/quick\n$/)
})

it('hack/tool --all goes on after a tool that cannot be had, and names it at the end', () => {
  const tools = folderOf('broken', 'version=1\nneeds=sh\nmake_tool() { false; }\n')
  mkdirSync(join(tools, 'tools/fine'))
  writeFileSync(
    join(tools, 'tools/fine/build'),
    `version=1\nneeds=sh\nmake_tool() { printf '#!/bin/sh\\n' > "$binary"; chmod +x "$binary"; }\n`,
  )
  const env = {
    PATH: process.env['PATH'],
    DEPOT_TOOLS_DIR: join(dir, 'cache of some'),
    CI: 'true',
  }
  const { stdout, stderr, status } = spawnSync(join(tools, 'tool'), ['--all'], {
    env,
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stdout).toMatch(/^depot: tool fine: .*\/fine \(\d+ s\)\n$/)
  expect(stderr).toContain('depot: could not build broken 1 from')
  expect(stderr).toContain('depot: not to be had here: broken; the lines above say why')
})

/** A copy of hack/tool with a folder of its own tools. */
function folderOf(name: string, build: string): string {
  const folder = mkdtempSync(join(dir, 'hack '))
  mkdirSync(join(folder, 'tools', name), { recursive: true })
  writeFileSync(join(folder, 'tools', name, 'build'), build)
  copyFileSync(join(import.meta.dirname, 'tool'), join(folder, 'tool'))
  return folder
}
