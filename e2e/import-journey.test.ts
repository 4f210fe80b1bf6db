import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { clis, Workspace } from '../hack/testbed/cli/cli.ts'
import { bareEnvironment } from '../hack/testbed/environment.ts'
import { depotArguments } from '../hack/testbed/program/command.ts'
import { tarGzOf } from '../hack/testbed/registry/archives.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { startServer } from '../hack/testbed/server/server.ts'
import { createUpstreamAuthority } from '../hack/testbed/upstream/https-server.ts'
import { UpstreamRegistry } from '../hack/testbed/upstream/registry.ts'

const count = 300
const target = new Registry()
const authority = createUpstreamAuthority()
const list = join(target.dir, 'sources.txt')
let old: UpstreamRegistry

const nameOf = (index: number) => `module-${String(index).padStart(3, '0')}`

beforeAll(async () => {
  old = await UpstreamRegistry.start(authority)
  old.token = 'sesame'
  const sources: string[] = []
  for (let index = 0; index < count; index += 1) {
    const address = `acme/${nameOf(index)}/aws`
    const content = Buffer.from(`output "name" {\n  value = "${nameOf(index)}"\n}\n`)
    const archive = await tarGzOf([{ path: 'main.tf', content }])
    old.addModule({ address, version: '1.0.0', archive })
    sources.push(`${old.host}/${address}`)
  }
  writeFileSync(list, `# What the old registry has.\n${sources.join('\n')}\n`)
  await target.sign()
})
afterEach(() => old.faults.clear())
afterAll(async () => {
  await old?.close()
  target.remove()
  authority.remove()
})

function start(token = 'sesame', ...args: readonly string[]) {
  const { manifests, archives, dir } = target
  const options = {
    manifests,
    archives,
    'spool-dir': join(dir, 'spool'),
    'egress-ca-path': authority.caFile,
    'egress-allow': old.downloadHost,
  }
  const flags = Object.entries(options).map(([flag, value]) => `--${flag}=${value}`)
  return spawn(process.execPath, [...depotArguments('import'), ...flags, ...args], {
    env: { ...bareEnvironment, DEPOT_IMPORT_TOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function ended(child: ReturnType<typeof start>) {
  const exited = once(child, 'exit') as Promise<[number | null]>
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await exited
  return { stdout, stderr, code }
}

/** Waits for some lines, and then sends a signal. */
async function interrupted(child: ReturnType<typeof start>, signal: NodeJS.Signals) {
  let printed = ''
  let isSent = false
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
    // A second Ctrl-C would end it at once.
    if (isSent || printed.split('\n').length <= 20) return
    isSent = child.kill(signal)
  })
  return ended(child)
}

const versions = () => readdirSync(target.manifests, { recursive: true }).length

describe('a team moves 300 modules', () => {
  it('sees a preview', async () => {
    const { stdout, code } = await ended(start('sesame', '--dry-run', '--list', list))
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`\\n${count} to import, 0 already there\\n$`))
    expect(versions()).toBe(0)
  })

  it('reports a wrong token of each source, and writes nothing', async () => {
    const sources = Array.from({ length: 3 }, (_, index) => `${old.host}/acme/${nameOf(index)}/aws`)
    const { stdout, code } = await ended(start('mistyped', ...sources))
    expect(code).toBe(1)
    expect(stdout.match(/^failed .*acme\/module-00\d\/aws: .*(401|credential)/gm)).toHaveLength(3)
    expect(versions()).toBe(0)
  })

  it('continues after Ctrl-C, a kill, a rate limit and a short failure of the registry', async () => {
    const first = await interrupted(start('sesame', '--list', list), 'SIGINT')
    expect(first).toMatchObject({ code: 130, stderr: '' })
    expect(first.stdout).toMatch(/stopped; run the same command again to go on\n$/)
    const second = await interrupted(start('sesame', '--list', list), 'SIGKILL')
    expect(second.code).toBeNull()

    old.faults.on(/module-100\/aws\/versions/, 'limitedBriefly', 1)
    old.faults.on(/module-200/, 'error', 1)
    const last = await ended(start('sesame', '--list', list, '--parallel', '8'))
    expect(last).toMatchObject({ code: 0, stderr: '' })
    expect(last.stdout).toMatch(/^waiting \d s: /m)
    const [, stored, present] = /\n(\d+) stored, (\d+) already there\n$/.exec(last.stdout) ?? []
    expect(Number(stored) + Number(present)).toBe(count)
    expect(Number(present)).toBeGreaterThanOrEqual(20)
    // Each stop causes one more fetch, of the archive that was in flight, and of no other.
    const archives = Map.groupBy(
      old.asked.filter((path) => /\.(?:zip|tar\.gz)$/.test(path)),
      (path) => path,
    )
    const times = Array.from(archives.values(), ({ length }) => length)
    expect(times.length).toBe(count)
    expect(Math.max(...times)).toBeLessThanOrEqual(3)
    const more = times.reduce((sum, each) => sum + each - 1, 0)
    expect(more, 'archives that were fetched once more').toBeLessThanOrEqual(20)
  })

  it('names the module that is not available, and imports all others', async () => {
    old.faults.on(/module-007\/aws\/versions/, 'error')
    const { stdout, code } = await ended(start('sesame', '--list', list))
    expect(code).toBe(1)
    expect(stdout.match(/^failed .*/gm)).toEqual([expect.stringContaining('module-007/aws: ')])
    const all = `0 stored, ${count - 1} already there, 1 failed; run the same command again to go on`
    expect(stdout).toContain(all)
  })

  it.skipIf(clis.every(({ path }) => path === undefined))('installs any of them', async () => {
    const server = await startServer(target)
    try {
      const names = [0, 100, 200, count - 1].map(nameOf)
      const configuration = names.map(
        (name) => `module "${name}" {\n  source = "depot.test/acme/${name}/aws"\n}\n`,
      )
      const path = clis.find((cli) => cli.path !== undefined)?.path
      const workspace = new Workspace(path, server.url, configuration.join(''))
      await workspace.must('init')
      expect(Object.keys(workspace.modules()).toSorted()).toEqual(names)
    } finally {
      await server.stop()
    }
  })
})
