import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { type FolderLockOptions, KernelLock, lockFolder } from './folderlock.ts'

let dir: string
const file = () => join(dir, '.depot.lock')

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'depot-lock-'))
  onTestFinished(() => {
    chmodSync(dir, 0o700)
    rmSync(dir, { recursive: true })
  })
})

const lock = (options: Partial<FolderLockOptions> = {}) =>
  lockFolder({ dir, program: 'depot test', onLost: () => undefined, ...options })

/** Another process that holds the lock until it is killed. */
async function holder(): Promise<ChildProcess> {
  const program = `
    const { lockFolder } = await import(${JSON.stringify(join(import.meta.dirname, 'folderlock.ts'))})
    await lockFolder({ dir: ${JSON.stringify(dir)}, program: 'depot other', onLost() {} })
    console.log('locked')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

it('gives the lock to one process, and to the next one after that has ended', async () => {
  const first = await lock()
  await expect(lock()).rejects.toThrow(
    new RegExp(`${dir} is being written to by depot test, process ${process.pid} on .* since 20`),
  )
  await first[Symbol.asyncDispose]()
  expect(readdirSync(dir)).toEqual([])
  await (await lock())[Symbol.asyncDispose]()
})

it('gives the lock to one of many processes that ask at the same time', async () => {
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => lock()))
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

it('refuses others while the holder runs, and nobody once it was killed', async () => {
  const other = await holder()
  await expect(lock()).rejects.toThrow(`depot other, process ${other.pid}`)
  await kill(other)
  expect(existsSync(file())).toBe(true)
  await using _ = await lock()
  expect(readFileSync(file(), 'utf8')).toContain(`depot test, process ${process.pid}`)
})

it('gives the lock of a killed holder to one of many', async () => {
  await kill(await holder())
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => lock()))
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

it('trusts the lock of the system, not the file that names the holder', async () => {
  writeFileSync(file(), 'depot sync, process 1 on elsewhere since 2020\n')
  await (await lock())[Symbol.asyncDispose]()
  const held = KernelLock.take(dir, '.depot.lock.db')
  await expect(lock()).rejects.toThrow(/is locked: .* or its file server has no locks/)
  held?.release()
  await (await lock())[Symbol.asyncDispose]()
})

it.each([
  [
    'taken',
    () => writeFileSync(file(), 'depot other, process 1 on elsewhere since 2020\n'),
    /^another process writes to .* now$/,
  ],
  [
    'removed',
    () => rmSync(file()),
    /^.*\.depot\.lock is missing: the folder was moved or unmounted/,
  ],
])('says once that the lock was %s, and leaves what is there', async (_, lose, why) => {
  const onLost = vi.fn<(why: string) => void>()
  const held = await lock({ lookMs: 10, onLost })
  lose()
  const after = existsSync(file()) && readFileSync(file(), 'utf8')
  await vi.waitFor(() => expect(onLost).toHaveBeenCalledTimes(1))
  expect(onLost).toHaveBeenCalledWith(expect.stringMatching(why))
  await held[Symbol.asyncDispose]()
  expect(existsSync(file()) && readFileSync(file(), 'utf8')).toBe(after)
})

it.runIf(process.getuid?.() !== 0)('reports a folder that it may not write to', async () => {
  chmodSync(dir, 0o500)
  await expect(lock()).rejects.toThrow(/cannot be written to: EACCES.*; let this user write there/)
})

it('reports a folder that is missing', async () => {
  await expect(lock({ dir: join(dir, 'none') })).rejects.toThrow(
    /none cannot be written to: ENOENT/,
  )
})

it('tells processes that begin and end at the same moment only that another one holds it', async () => {
  const script = `
    const { lockFolder } = await import(${JSON.stringify(join(import.meta.dirname, 'folderlock.ts'))})
    for (let taken = 0; taken < 50; ) {
      try {
        const lock = await lockFolder({ dir: ${JSON.stringify(dir)}, program: 'test', onLost() {} })
        await lock[Symbol.asyncDispose]()
        taken += 1
      } catch (error) {
        if (!error.isHeld) throw error
      }
    }`
  const children = [1, 2, 3].map(() =>
    spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'ignore' }),
  )
  const ends = await Promise.all(children.map((child) => once(child, 'exit')))
  expect(ends.map(([code]) => code as number)).toEqual([0, 0, 0])
})
