import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { depotArguments } from '../hack/testbed/program/command.ts'
import { ScanScene } from '../pkg/fill/scan/scan.fixture.ts'

/*
 * The scanner is the first process of a container, and shares its namespaces with the program, because no pod may create its
 * own.
 */

const container = ['--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc', '--']
const canContain = spawnSync('unshare', [...container, 'true']).status === 0
let scene: ScanScene

beforeAll(async () => {
  scene = await ScanScene.open()
  for (const name of ['first', 'second']) {
    await scene.store(name, [{ path: 'main.tf', content: name }])
  }
})
afterAll(() => scene.close())

it.skipIf(!canContain)(
  'ends processes that left the scanner and emptied their environment',
  async () => {
    const beats = JSON.stringify(join(scene.folder, 'beats'))
    const beat = `setInterval(() => require('node:fs').appendFileSync(${beats}, 'x'), 10)`
    // The first scan leaves a process behind. The second one fails if that process still writes.
    const command = await scene.scanner(`
const size = () => fs.existsSync(${beats}) ? fs.statSync(${beats}).size : 0
const isFirst = size() === 0
if (isFirst) spawn(process.execPath, ['-e', ${JSON.stringify(beat)}], { env: {}, cwd: '/', detached: true, stdio: 'ignore' }).unref()
const before = size()
const end = () => {
  if (isFirst && size() === 0) return
  print([])
  process.exit(!isFirst && size() > before ? 3 : 0)
}
setInterval(end, isFirst ? 20 : 500)`)
    const paths = ['manifests', 'archives'].map((name) => `--${name}=${join(scene.folder, name)}`)
    const options = [`--work-dir=${scene.workDir}`, '--scanner=exec', '--scanner-offline=false']
    const program = [process.execPath, ...depotArguments('scanner'), `--scanner-command=${command}`]
    const args = [...container, ...program, ...paths, ...options]
    const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit') as Promise<[number]>
    expect(await text(child.stdout)).toBe('2 archives scanned, 0 failures\n')
    expect(await exited).toEqual([0, null])
  },
)
