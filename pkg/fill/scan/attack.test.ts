import { existsSync, readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import type { Objects } from '../../records/store/store.ts'
import { ScanScene } from './scan.fixture.ts'
import { execScanner, trivyScanner } from './scan.ts'
import { ScanError } from './scanner.ts'
import { findIsolation } from './scanner-process.ts'

let scene: ScanScene
beforeEach(async () => {
  scene = await ScanScene.open()
})
afterEach(() => scene.close())

const main = { path: 'main.tf', content: 'resource "aws_s3_bucket" "logs" {}\n' }

it.skipIf(findIsolation() === undefined)(
  'ends processes of a scanner that left its group and emptied their environment',
  async () => {
    const beats = join(scene.folder, 'beats')
    const beat = `const fs = require('node:fs'); setInterval(() => fs.appendFileSync(${JSON.stringify(beats)}, 'x'), 20)`
    const hide = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(beat)}], { env: {}, cwd: '/', detached: true, stdio: 'ignore' }).unref()`
    await scene.scanner(
      `spawn(process.execPath, ['-e', ${JSON.stringify(hide)}], { env: {}, cwd: '/', detached: true, stdio: 'ignore' }).unref()
       const waiting = setInterval(() => {
         if (!fs.existsSync(${JSON.stringify(beats)})) return
         print([])
         process.exit()
       }, 20)`,
    )
    await scene.store('network', [main])
    expect((await scene.run()).done).toBe(1)
    expect(existsSync(beats)).toBe(true)
    const count = () => readFileSync(beats).length
    await expect
      .poll(async () => {
        const before = count()
        await sleep(200)
        return count() - before
      })
      .toBe(0)
  },
)

it('ends a scanner that floods its errors, and remembers its last words alone', async () => {
  const flooded = JSON.stringify(join(scene.folder, 'flooded'))
  await scene.scanner(
    `const chunk = Buffer.alloc(1 << 20, 'x')
     for (let count = 1; ; count += 1) {
       fs.writeSync(2, chunk)
       if (count === 500) fs.writeFileSync(${flooded}, '')
     }`,
  )
  await scene.store('network', [main])
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  const deadline = new AbortController()
  const spy = vi.spyOn(AbortSignal, 'timeout')
  onTestFinished(() => spy.mockRestore())
  spy.mockImplementation((ms) => (ms === 2_000 ? deadline.signal : timeout(ms)))
  const before = process.memoryUsage().rss
  const running = scene.run({ deadlineMs: 2_000 })
  await expect.poll(() => scene.text('flooded')).toBe('')
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024)
  deadline.abort(new DOMException('too late', 'TimeoutError'))
  await running
  expect((await scene.scanned('network')).message).toMatch(
    /^scanner took longer than 2 s; --scan-deadline allows more: x+…?$/,
  )
})

const answered = async (script: string) => {
  await scene.scanner(`process.stdout.write(${script})`)
  await scene.store('network', [main])
  await scene.run()
  const { sourceScan } = await scene.status('network')
  const { message } = await scene.scanned('network')
  return { message, found: sourceScan?.findings.map((one) => [one.vulnerabilityID, one.severity]) }
}

it.each([`'['.repeat(900_000)`, `'['.repeat(400_000) + ']'.repeat(400_000)`])(
  'refuses JSON that is only deep: %s',
  async (script) => {
    const message = 'scanner did not write a JSON list of findings'
    expect(await answered(script)).toEqual({ message: expect.stringContaining(message) })
  },
)

it.each([
  `'[{"vulnerabilityID":"A","x":' + '{"a":'.repeat(300_000) + '1' + '}'.repeat(300_000) + '}]'`,
  `'[{"vulnerabilityID":"A","' + 'k'.repeat(50_000_000) + '":1}]'`,
  `'[{"vulnerabilityID":"A","__proto__":{"severity":"CRITICAL"}}]'`,
  `'[{"vulnerabilityID":"A","title":"' + 'k'.repeat(50_000_000) + '"}]'`,
])('reads nothing but the fields of a finding: %s', async (script) => {
  const { found } = await answered(script)
  expect(found).toEqual([['A', 'UNKNOWN']])
})

it.each([
  ['finds nothing', (): [] => []],
  [
    'recognises nothing',
    (): never => {
      throw new ScanError('NothingRecognised', 'it recognised no packages')
    },
  ],
])(
  'scans an archive at once that was lost and is stored again, by a scanner that %s',
  async (_, findingsIn) => {
    const scanner = { ...execScanner(await scene.scanner('print([])')), findingsIn }
    await scene.store('network', [main])
    const path = join(scene.folder, 'archives/stored/network/network.zip')
    await rename(path, `${path}.lost`)
    let objects: Objects | undefined
    const scans = await scene.begin({ scanner, through: (opened) => (objects = opened) })
    await scans.idle()
    expect(scans.failures()).toHaveLength(1)
    await rename(`${path}.lost`, path)
    const version = objects?.get('Version', 'team', 'network')
    if (version === undefined) throw new Error('there is no Version')
    const artifact = { fileName: 'network.zip', storedAt: '2026-11-26T00:00:00Z' }
    await objects?.writeStatus(version, { artifact })
    await scans.idle()
    expect([scans.done, scans.failures()]).toEqual([1, []])
  },
)

it('keeps findings while the scanner does not tell its version, and removes a failure that has passed', async () => {
  const scanner = execScanner(await scene.scanner('print([])'))
  await scene.store('network', [main])
  await scene.run({ scanner })
  const known = await scene.status('network')
  const writtenAt = await scene.writtenAt('network')
  const slow: typeof scanner = {
    ...scanner,
    identity: async () => {
      throw new ScanError('ScanFailed', 'trivy took longer than 60 s')
    },
  }
  expect((await scene.run({ scanner: slow })).failures()).toMatchObject([{ key: 'team/network' }])
  expect(await scene.writtenAt('network')).toBe(writtenAt)
  // A scan with another database failed, and the former one is back.
  const failure = {
    type: 'Scanned',
    reason: 'ScanFailed',
    message: 'no database',
    lastTransitionTime: '2026-11-26T00:00:00Z',
  }
  await scene.writeStatus('network', { ...known, conditions: [{ ...failure, status: 'False' }] })
  expect((await scene.run({ scanner })).done).toBe(0)
  expect(await scene.scanned('network')).toMatchObject({
    status: 'True',
    message: expect.stringMatching(/^no findings, by scanner of /),
  })
})

it.each([
  [
    '/usr/bin/true',
    'true version did not write its version as JSON: correct --scanner-command, or set --scanner exec for a program that is not Trivy',
  ],
  ['/usr/bin/false', 'false ended with status 1'],
  ['/usr/bin/env', 'env ended with status 127: /usr/bin/env: ‘version’: No such file or directory'],
])('says of %s that it is not Trivy, and calls nothing clean', async (command, message) => {
  await scene.store('network', [main])
  const scanner = trivyScanner({ command, cacheDir: join(scene.folder, 'cache'), isOffline: true })
  expect((await scene.run({ scanner })).failures()).toEqual([{ key: 'team/network', message }])
  expect(await scene.scanned('network')).toEqual({ status: 'False', reason: 'ScanFailed', message })
  expect((await scene.status('network')).sourceScan).toBeUndefined()
})

it('says of Trivy that is not installed that it is missing, also with a network of its own', async () => {
  await scene.store('network', [main])
  const command = join(scene.folder, 'trivy')
  const scanner = trivyScanner({ command, cacheDir: join(scene.folder, 'cache'), isOffline: true })
  const message = `the scanner ${command} cannot be started (ENOENT): install it, or correct --scanner-command`
  expect((await scene.run({ scanner })).failures()).toEqual([{ key: 'team/network', message }])
  expect(await scene.scanned('network')).toEqual({
    status: 'Unknown',
    reason: 'ScannerAbsent',
    message,
  })
})

it('gives back the slot of a version that needs no scan any more when its turn comes', async () => {
  const path = (name: string) => join(scene.folder, name)
  await scene.scanner(
    `const [name] = fs.readdirSync(folder)
     if (name === 'bad' || !fs.existsSync(${JSON.stringify(path('armed'))})) process.exit(1)
     if (name === 'slow') fs.writeFileSync(${JSON.stringify(path('began'))}, '')
     const waiting = setInterval(() => {
       if (name === 'slow' && !fs.existsSync(${JSON.stringify(path('go'))})) return
       clearInterval(waiting)
       print([])
     }, 10)`,
  )
  for (const name of ['bad', 'slow', 'other'])
    await scene.store(name, [{ path: name, content: '' }])
  let objects: Objects | undefined
  const scans = await scene.begin({ through: (opened) => (objects = opened) })
  const write = async (name: string, status: object) => {
    const version = objects?.get('Version', 'team', name)
    if (version !== undefined)
      await objects?.writeStatus(version, { ...(version.status as object), ...status })
  }
  /** A file that is stored again is scanned at once. */
  const storeAgain = (name: string) =>
    write(name, { artifact: { fileName: `${name}.zip`, storedAt: '2026-11-26T00:00:00Z' } })
  await scans.idle()
  expect(scans.failures()).toHaveLength(3)
  await writeFile(path('armed'), '')
  vi.useFakeTimers({ toFake: ['setTimeout'], shouldAdvanceTime: true })
  await storeAgain('slow')
  await expect.poll(() => scene.text('began')).toBe('')
  // Others may begin beside slow work, and wait for the only slot. Then the clock goes back.
  vi.advanceTimersByTime(10_000)
  vi.useRealTimers()
  scene.aheadMs = 6 * 60_000
  await write('bad', { syncStatus: 'looked at again' })
  await sleep(50)
  scene.aheadMs = 0
  await writeFile(path('go'), '')
  await scans.idle()
  await storeAgain('other')
  await scans.idle()
  expect([scans.done, scans.failures().map(({ key }) => key)]).toEqual([2, ['team/bad']])
})

it('runs at most as many scans at a time as it has slots', async () => {
  const running = JSON.stringify(join(scene.folder, 'running'))
  await scene.scanner(
    `fs.mkdirSync(${running}, { recursive: true })
     const own = ${running} + '/' + Math.random()
     fs.writeFileSync(own, '')
     let most = 0
     const end = Date.now() + 1500
     const waiting = setInterval(() => {
       most = Math.max(most, fs.readdirSync(${running}).length)
       if (most < 2 && Date.now() < end) return
       clearInterval(waiting)
       fs.rmSync(own)
       print([{ vulnerabilityID: 'RUNNING-' + most }])
     }, 50)`,
  )
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const name of names) await scene.store(name, [main])
  expect((await scene.run({ slots: 2 })).done).toBe(names.length)
  const statuses = await Promise.all(names.map((name) => scene.status(name)))
  const counts = statuses.map(({ sourceScan }) => sourceScan?.findings[0]?.vulnerabilityID)
  expect(new Set(counts)).toEqual(new Set(['RUNNING-1', 'RUNNING-2']).intersection(new Set(counts)))
  expect(counts).toContain('RUNNING-2')
})
