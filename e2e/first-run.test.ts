import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { dataOf } from '../hack/testbed/explorer/pages.ts'
import { freePort } from '../hack/testbed/ports.ts'
import type { Boot } from '../pkg/explorer/explorer.ts'

const repository = dirname(import.meta.dirname)
const parent = mkdtempSync(join(tmpdir(), 'depot first run '))
const checkout = join(parent, 'check out')
const terraform = inject('terraform')

/** The work tree, without installed packages and build output. */
beforeAll(() => {
  const built = ['.git', 'node_modules', '.depot', 'data'].map((name) => join(repository, name))
  cpSync(repository, checkout, { recursive: true, filter: (path) => !built.includes(path) })
})
afterAll(() => rmSync(parent, { recursive: true, force: true }))

/** Takes the packages of the work tree, because to install them takes longer than everything else here. */
function copyPackages(): void {
  const [from, to] = [join(repository, 'node_modules'), join(checkout, 'node_modules')]
  // Links of 42,000 files take a sixth of the processor time of copies, but need the same disk. Nobody changes a package.
  if (spawnSync('cp', ['-al', from, to]).status !== 0) {
    rmSync(to, { recursive: true, force: true })
    execFileSync('cp', ['-a', '--reflink=auto', from, to])
  }
  // Make compares its time with that of package.json.
  const lock = '.package-lock.json'
  rmSync(join(to, lock))
  cpSync(join(from, lock), join(to, lock))
}

/** Makes a checkout beside the other one, of which only one package has to be installed. */
function smallCheckout(): string {
  const folder = join(parent, 'small check out')
  for (const file of ['Makefile', 'hack/with-node', '.npmrc'])
    cpSync(join(repository, file), join(folder, file), { recursive: true })
  const read = (file: string) =>
    JSON.parse(readFileSync(join(repository, file), 'utf8')) as Packages
  const { name, version } = read('package.json')
  const own = { name, version, dependencies: { yaml: read('package.json').dependencies['yaml'] } }
  const { lockfileVersion, packages } = read('package-lock.json')
  const key = 'node_modules/yaml'
  const lock = { ...own, lockfileVersion, packages: { '': own, [key]: packages[key] } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(own))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
  return folder
}

interface Packages {
  readonly name: string
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly lockfileVersion: number
  readonly packages: Readonly<Record<string, object>>
}

interface Run {
  /** Its output so far. */
  readonly printed: () => string
  /** Waits for a text. @throws Error with the output if make ends before that */
  readonly until: (text: string) => Promise<void>
  /** Sends Ctrl-C as a terminal does: to the whole process group. Resolves to the exit code of make. */
  readonly interrupt: () => Promise<number | null>
  readonly exited: Promise<[number | null]>
}

function makeRun(port: number | string, ...more: readonly string[]): Run {
  const make = spawn('make', ['run', `PORT=${port}`, ...more], {
    cwd: checkout,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(make, 'exit') as Promise<[number | null]>
  let printed = ''
  for (const stream of [make.stdout, make.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  }
  return {
    printed: () => printed,
    exited,
    async until(text) {
      const ended = exited.then(([code]) => `make run ended with ${code}:\n${printed}`)
      const waiting = new AbortController()
      const seen = (async () => {
        while (!printed.includes(text)) await sleep(100, undefined, { signal: waiting.signal })
      })()
      const problem = await Promise.race([seen, ended])
      waiting.abort()
      if (problem !== undefined) throw new Error(problem)
    },
    async interrupt() {
      if (make.exitCode === null) process.kill(-(make.pid ?? 0), 'SIGINT')
      const [code] = await exited
      return code
    },
  }
}

/** Readers type the indented lines. */
const linesToType = (printed: string): string[] =>
  printed
    .split('\n')
    .filter((line) => line.startsWith('    '))
    .map((line) => line.trim())

describe.runIf(terraform)('make run, in a fresh checkout whose path has spaces', () => {
  it('installs the packages first', () => {
    const planned = execFileSync('make', ['--dry-run', 'run'], { cwd: checkout, encoding: 'utf8' })
    expect(planned.indexOf('npm ci')).toBeGreaterThan(-1)
    expect(planned.indexOf('npm ci')).toBeLessThan(planned.indexOf('hack/run.ts'))
    copyPackages()
  })

  it('installs packages into a folder whose path has spaces', () => {
    const folder = smallCheckout()
    execFileSync('make', ['install'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    expect(existsSync(join(folder, 'node_modules/yaml/package.json'))).toBe(true)
  })

  it('prints three lines that install a module and a signed provider', {
    timeout: 600_000,
  }, async () => {
    const port = await freePort()
    const run = makeRun(port)
    try {
      await run.until('Ctrl-C')
      const lines = linesToType(run.printed())
      expect(lines).toHaveLength(3)
      const typed = execFileSync('sh', ['-ec', lines.join('\n')], {
        encoding: 'utf8',
        env: { PATH: `${dirname(terraform ?? '')}:${process.env['PATH']}`, HOME: parent },
      })
      expect(typed).toMatch(/Installed depot\.test\/platform\/hello v1\.1\.0 \(self-signed, key ID/)
      expect(typed).toContain('Apply complete! Resources: 2 added')
      // The commands of Depot find the registry where the CLI finds it.
      const depot = (args: string) =>
        spawnSync(
          'sh',
          ['-ec', `${lines.slice(0, 2).join('\n')}\n"$0" ${args}`, join(checkout, 'depot')],
          {
            encoding: 'utf8',
            env: { PATH: process.env['PATH'], HOME: parent },
          },
        )
      const network = 'depot.test/platform/network/aws'
      expect(depot(`docs ${network}@1.1.0`).stdout).toContain('name="input_zones"')
      expect(depot(`compare ${network} 1.0.0 1.1.0`).stderr).toBe('')
      expect(depot(`findings ${network}@1.1.0`).stdout).toContain('CRITICAL')
      expect(depot('outdated').stdout).toContain('excluded: 2.0.0 is the latest')
      // The samples have documentation: an input links to its module.
      const search = `http://127.0.0.1:${port}/depot/ui/v1/search?q=zones`
      await expect
        .poll(async () => (await fetch(search)).json())
        .toMatchObject({
          items: [
            {
              name: 'network',
              matched: expect.arrayContaining([{ field: 'input', text: 'zones' }]),
            },
          ],
        })
      // The usage block of the pages has their address.
      const pages = /Open (http:\S+) in a browser/.exec(run.printed())?.[1] ?? ''
      const page = await (await fetch(`${pages}/platform/module/network`)).text()
      const { registryHost } = dataOf(page, 'boot') as Boot
      const copied = join(parent, 'copied')
      mkdirSync(copied)
      const block = `module "network" {\n  source = "${registryHost}/platform/network/aws"\n}\n`
      writeFileSync(join(copied, 'main.tf'), block)
      execFileSync(
        'sh',
        ['-ec', `${lines[0]}\ncd ${copied.replaceAll(' ', '\\ ')}\nterraform init`],
        {
          env: { PATH: `${dirname(terraform ?? '')}:${process.env['PATH']}`, HOME: parent },
        },
      )
      expect(existsSync(join(copied, '.terraform/modules/network/main.tf'))).toBe(true)
      await expect
        .poll(run.printed)
        .toContain('GET /depot/modules/v1/platform/network/aws/versions 200')
    } finally {
      await run.interrupt()
    }
    expect(run.printed()).not.toMatch(/\n\s+at .*node:/)
  })

  it('says in one line that a port is in use', { timeout: 600_000 }, async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const run = makeRun(port)
    const [code] = await run.exited
    other.close()
    expect(code).not.toBe(0)
    expect(run.printed()).toContain(
      `depot: port ${port} is in use; choose another: make run PORT=${port + 1}\n`,
    )
  })

  it.each([
    ['abc', [], 'PORT must be 1 to 65535, not abc'],
    ['8e3', [], 'PORT must be 1 to 65535, not 8e3'],
    ['9999', ['UI_PORT=0'], 'UI_PORT must be 1 to 65535, not 0'],
  ])(
    'says in one line that %s %j is not a port',
    { timeout: 600_000 },
    async (port, more, problem) => {
      const run = makeRun(port, ...more)
      const [code] = await run.exited
      expect(code).not.toBe(0)
      expect(run.printed()).toContain(`depot: ${problem}\n`)
      expect(run.printed()).not.toMatch(/\n\s+at /)
    },
  )
})
