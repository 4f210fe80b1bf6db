import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

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
  {
    what: 'prints the program that its variable names',
    name: 'tofu',
    env: { DEPOT_TOFU: own },
    stdout: own,
  },
  {
    what: 'prints the program on PATH',
    name: 'tofu',
    env: { PATH: `${basics}:${dir}` },
    stdout: own,
  },
  {
    what: 'looks in KUBEBUILDER_ASSETS',
    name: 'etcd',
    env: { KUBEBUILDER_ASSETS: elsewhere },
    stdout: join(elsewhere, 'etcd'),
  },
])('hack/tool $what', ({ name, env, stdout }) => {
  expect(tool(name, env)).toEqual({ stdout: `${stdout}\n`, stderr: '', status: 0 })
})

it.each([
  {
    what: 'that its variable does not name a program',
    name: 'tofu',
    env: { DEPOT_TOFU: '/nowhere/tofu' },
    stderr: 'depot: DEPOT_TOFU names /nowhere/tofu, which is not an executable file',
  },
  {
    what: 'which program is missing',
    name: 'dex',
    env: {},
    stderr:
      'depot: dex is not on PATH, and building it needs go, which is missing too; install one of them, or set DEPOT_DEX',
  },
  {
    what: 'which tools exist',
    name: 'nothing',
    env: {},
    stderr: "depot: no tool 'nothing'; the tools are: ",
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

it('hack/tool builds a tool once when several processes ask for it at the same time', async () => {
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

it('hack/tool takes over the lock of a killed build', async () => {
  const tools = folderOf(
    'quick',
    `version=1\nneeds=sh\nmake_tool() { printf '#!/bin/sh\\n' > "$binary"; chmod +x "$binary"; }\n`,
  )
  const cache = join(dir, 'cache of a killed build')
  mkdirSync(join(cache, '.build-lock-sh'), { recursive: true })
  const { pid } = spawnSync('true')
  writeFileSync(join(cache, '.build-lock-sh/pid'), `${pid}\n`)
  const env = { PATH: process.env['PATH'] ?? '', DEPOT_TOOLS_DIR: cache }
  const { stdout } = await run(join(tools, 'tool'), ['quick'], { env })
  expect(stdout).toMatch(/\/quick\n$/)
})

it('hack/tool prints a tool that is ready before the lock of another build is free', async () => {
  const tools = folderOf(
    'mine',
    `version=1\nneeds=sh\nmake_tool() { printf '#!/bin/sh\\n' > "$binary"; chmod +x "$binary"; }\n`,
  )
  const cache = join(dir, 'cache of a busy machine')
  const env = { PATH: process.env['PATH'] ?? '', DEPOT_TOOLS_DIR: cache }
  const { stdout: built } = await run(join(tools, 'tool'), ['mine'], { env })
  const path = built.trim()
  renameSync(path, `${path}.aside`)
  mkdirSync(join(cache, '.build-lock-sh'))
  writeFileSync(join(cache, '.build-lock-sh/pid'), `${process.pid}\n`)
  const asked = run(join(tools, 'tool'), ['mine'], { env })
  let said = ''
  asked.child.stderr?.on('data', (chunk: unknown) => {
    said += String(chunk)
  })
  await vi.waitFor(() => expect(said).toContain('mine waits for the build of another tool'))
  renameSync(`${path}.aside`, path)
  expect((await asked).stdout).toBe(built)
})

it('hack/tool --ready prints a tool that is there, and otherwise neither builds nor prints anything', async () => {
  const tools = folderOf('slow', 'version=1\nneeds=sh\nmake_tool() { echo "never called" >&2; }\n')
  const env = { PATH: process.env['PATH'], DEPOT_TOOLS_DIR: join(dir, 'cache of nothing') }
  const ask = (more = {}) =>
    spawnSync(join(tools, 'tool'), ['--ready', 'slow'], {
      env: { ...env, ...more },
      encoding: 'utf8',
    })
  expect(ask()).toMatchObject({ status: 1, stdout: '', stderr: '' })
  expect(ask({ DEPOT_SLOW: own })).toMatchObject({ status: 0, stdout: `${own}\n` })
})

describe('a release in hack/tools/NAME/release', () => {
  const archive = join(dir, 'release.tar.gz')
  const platform = ['-s', '-m'].map((flag) =>
    execFileSync('uname', [flag], { encoding: 'utf8' }).trim(),
  )
  const build = `version=1\nneeds=sh\nmake_tool() { printf '#!/bin/sh\\necho built\\n' > "$binary"; chmod +x "$binary"; }\n`

  beforeAll(() => {
    mkdirSync(join(dir, 'release'))
    writeFileSync(join(dir, 'release/program'), '#!/bin/sh\necho released\n', { mode: 0o755 })
    execFileSync('tar', ['-czf', archive, '-C', dir, 'release/program'])
  })

  /** The output of the program that hack/tool got, and the messages of hack/tool. */
  function got(address: string, digest: string) {
    const tools = folderOf('told', build)
    writeFileSync(
      join(tools, 'tools/told/release'),
      `# A comment.\n${platform.join('-')} ${address} ${digest} release/program\n`,
    )
    const cache = mkdtempSync(join(dir, 'cache '))
    const env = { PATH: process.env['PATH'], DEPOT_TOOLS_DIR: cache }
    const { stdout, stderr } = spawnSync(join(tools, 'tool'), ['told'], { env, encoding: 'utf8' })
    const leftover = globSync('**/.release', { cwd: cache })
    return { printed: execFileSync(stdout.trim(), { encoding: 'utf8' }).trim(), stderr, leftover }
  }

  it.each(['sha256', 'sha512'])('is used if its %s matches', (algorithm) => {
    const digest = createHash(algorithm).update(readFileSync(archive)).digest('hex')
    expect(got(`file://${archive.replaceAll(' ', '%20')}`, digest)).toEqual({
      printed: 'released',
      stderr: '',
      leftover: [],
    })
  })

  it('is replaced by a build if its digest differs', () => {
    const { printed, stderr, leftover } = got(
      `file://${archive.replaceAll(' ', '%20')}`,
      '0'.repeat(64),
    )
    expect({ printed, leftover }).toEqual({ printed: 'built', leftover: [] })
    expect(stderr).toContain('is not used: its digest differs from the one in')
  })

  it('is replaced by a build if it cannot be downloaded', () => {
    expect(got('https://127.0.0.1:1/release.tar.gz', '0'.repeat(64)).printed).toBe('built')
  })
})

it('hack/tool takes a program from a package of Debian that the build names', async () => {
  const tools = folderOf(
    'packaged',
    "version=1\nneeds=sh\ndebian='some-package usr/bin/program'\nmake_tool() { false; }\n",
  )
  const apt = mkdtempSync(join(dir, 'apt '))
  const scripts = {
    'apt-get': '[ "$*" = "download some-package" ] && touch some-package_1_all.deb',
    'dpkg-deb':
      'mkdir -p usr/bin && printf "#!/bin/sh\\n" >usr/bin/program && chmod +x usr/bin/program',
  }
  for (const [name, script] of Object.entries(scripts))
    writeFileSync(join(apt, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const cache = join(dir, 'cache of packages')
  const env = { PATH: `${apt}:${process.env['PATH']}`, DEPOT_TOOLS_DIR: cache }
  const { stdout, stderr } = await run(join(tools, 'tool'), ['packaged'], { env })
  expect({ stdout, stderr }).toEqual({
    stdout: expect.stringMatching(/\/packaged\n$/),
    stderr: '',
  })
  expect(globSync('*/.debian', { cwd: cache })).toEqual([])
})

it('hack/tool --all continues after a tool that fails, and names it at the end', () => {
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
  expect(stderr).toContain('depot: missing: broken; the lines above say why')
})

/** A copy of hack/tool with a folder of its own tools. */
function folderOf(name: string, build: string): string {
  const folder = mkdtempSync(join(dir, 'hack '))
  mkdirSync(join(folder, 'tools', name), { recursive: true })
  writeFileSync(join(folder, 'tools', name, 'build'), build)
  copyFileSync(join(import.meta.dirname, 'tool'), join(folder, 'tool'))
  return folder
}
