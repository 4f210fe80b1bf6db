import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, inject, it } from 'vitest'
import { freePorts } from '../hack/testbed/ports.ts'

const repository = dirname(import.meta.dirname)
const dir = mkdtempSync(join(tmpdir(), 'depot run cluster '))
const terraform = inject('terraform')
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const running: ChildProcess[] = []
afterAll(() => Promise.all(running.map(interrupt)))

/** A process whose output is collected. */
function start(command: string, args: readonly string[]) {
  const child = spawn(command, args, {
    cwd: repository,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  }
  return { child, printed: () => printed }
}

/** Sends Ctrl-C as a terminal does: to the whole process group. Resolves to the exit code. */
async function interrupt(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit') as Promise<[number | null]>
  process.kill(-(child.pid ?? 0), 'SIGINT')
  return (await exited)[0]
}

const answerOf = async (port: number): Promise<string> =>
  (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined))?.text() ?? ''

/** Each group of indented lines is for one terminal. */
const groupsToType = (printed: string): string[] =>
  [...printed.matchAll(/(?:^ {4}.*\n)+/gm)].map(([lines]) => lines.replaceAll(/^ {4}/gm, ''))

it.runIf(terraform)(
  'make run-cluster prints what starts Depot on it and installs from it',
  { timeout: 600_000 },
  async () => {
    const [port = 0, uiPort = 0] = await freePorts(2)
    const script = join(repository, 'hack/testbed/control-plane/main.ts')
    const cluster = start(process.execPath, [
      script,
      '--dir',
      dir,
      '--port',
      String(port),
      '--ui-port',
      String(uiPort),
    ])
    await expect.poll(cluster.printed, { timeout: 120_000 }).toContain('Ctrl-C')
    const groups = groupsToType(cluster.printed())
    const [server = '', install = ''] = groups
    const groupOf = (text: string) => groups.find((lines) => lines.includes(text)) ?? ''
    const controller = groupOf('depot controller')

    const depot = start('sh', ['-c', `exec ${server}`])
    await expect.poll(depot.printed, { timeout: 60_000 }).toContain('"msg":"ready"')
    const typed = execFileSync('sh', ['-ec', install], {
      encoding: 'utf8',
      env: { PATH: `${dirname(terraform ?? '')}:${process.env['PATH']}`, HOME: dir },
    })
    expect(typed).toContain('Apply complete! Resources: 2 added')
    const path = 'depot/ui/v1/resources/platform/module/network'
    const detail = await fetch(`http://127.0.0.1:${port}/${path}`)
    expect(await detail.json()).toMatchObject({
      synced: true,
      readmeContent: expect.stringMatching(/^# network/),
    })

    const docs = await fetch(`http://127.0.0.1:${port}/${path}/docs`)
    expect(await docs.json()).toMatchObject({
      root: { inputs: [{ name: 'cidr' }, { name: 'zones' }] },
    })

    const filling = start('sh', ['-c', `exec ${controller}`])
    const versions = async () => {
      const answer = await fetch(
        `http://127.0.0.1:${port}/depot/modules/v1/upstream/vpc/aws/versions`,
      )
      return answer.ok ? answer.json() : filling.printed()
    }
    await expect
      .poll(versions, { timeout: 120_000 })
      .toMatchObject({ modules: [{ versions: [{ version: '1.1.0' }, { version: '1.0.0' }] }] })

    const story = execFileSync('sh', ['-ec', groupOf('annotate depots')], { encoding: 'utf8' })
    expect(story).toMatch(/depot.depot.internal\/main .* True +Synced +\d/)
    expect(story).toMatch(/version.depot.internal\/vpc-1-1-0 .* true +True +Synced/)
    expect(story).toMatch(/Normal +Synced +version\/vpc-1-1-0 +stored vpc-1.1.0-/)

    const [build, ui] = groupOf('depot ui').split(/\n(.*)/s)
    expect(build).toBe('make ui')
    // `make integration` has built them, and other tests read them now.
    if (!existsSync(join(repository, 'pkg/explorer/dist/index.html')))
      execFileSync('make', ['ui'], { cwd: repository })
    const pages = start('sh', ['-c', `exec ${ui}`])
    await expect.poll(() => answerOf(uiPort), { timeout: 60_000 }).toContain('<html')
    expect(await interrupt(pages.child)).toBe(0)
    expect(await interrupt(filling.child)).toBe(0)
    expect(await interrupt(depot.child)).toBe(0)
    expect(await interrupt(cluster.child)).toBe(0)
  },
)
