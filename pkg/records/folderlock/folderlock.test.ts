import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { messageOf } from '../../base/errors/errors.ts'
import { type FolderLockOptions, lockFolder } from './folderlock.ts'

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

/** Another process that has the lock until it is killed. */
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

/** What a process leaves that is killed while it has the lock. */
async function killed(): Promise<string> {
  const other = await holder()
  other.kill('SIGKILL')
  await once(other, 'exit')
  return readFileSync(file(), 'utf8')
}

const withToken = (text: string, token: string) =>
  text.replace(/"token":"[^"]*"/, `"token":"${token}"`)

it('lets one process in, and the next one when that has ended in order', async () => {
  const first = await lock()
  await expect(lock()).rejects.toThrow(
    new RegExp(`${dir} is being written to by depot test, process ${process.pid} on .* since 20`),
  )
  await first[Symbol.asyncDispose]()
  expect(existsSync(file())).toBe(false)
  await (await lock())[Symbol.asyncDispose]()
})

it('lets one of many in that come at the same time', async () => {
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => lock()))
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

describe('a holder that left the file behind', () => {
  it('keeps others out while it runs, and nobody once it was killed', async () => {
    const other = await holder()
    await expect(lock()).rejects.toThrow(`depot other, process ${other.pid}`)
    other.kill('SIGKILL')
    await once(other, 'exit')
    await (await lock())[Symbol.asyncDispose]()
  })

  it('is followed by one of many, also where they come while it is being followed', async () => {
    const dead = await killed()
    for (const round of Array.from({ length: 20 }).keys()) {
      writeFileSync(file(), withToken(dead, `dead${round}`))
      const all = await Promise.allSettled(
        Array.from({ length: 20 }, async (_, place) => {
          for (let turn = 0; turn < place; turn += 1) await setImmediate()
          return await lock()
        }),
      )
      const winners = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      expect(winners).toHaveLength(1)
      expect(readdirSync(dir)).toEqual(['.depot.lock'])
      for (const winner of winners) await winner[Symbol.asyncDispose]()
    }
  })

  it('is followed by no other while one that runs is about to', async () => {
    const dead = await killed()
    await using running = await lock()
    const follower = readFileSync(file(), 'utf8')
    writeFileSync(file(), withToken(dead, 'dead'))
    writeFileSync(`${file()}.dead.next`, follower)
    await expect(lock()).rejects.toThrow(`depot test, process ${process.pid}`)
    expect(readFileSync(file(), 'utf8')).toBe(withToken(dead, 'dead'))
    rmSync(`${file()}.dead.next`)
    writeFileSync(file(), follower)
    await running[Symbol.asyncDispose]()
  })

  it('is followed where one that was about to was killed, too', async () => {
    const dead = await killed()
    writeFileSync(file(), withToken(dead, 'dead'))
    writeFileSync(`${file()}.dead.next`, withToken(dead, 'follower'))
    await using _ = await lock()
    expect(readdirSync(dir)).toEqual(['.depot.lock'])
    expect(readFileSync(file(), 'utf8')).toContain(`"pid":${process.pid}`)
  })

  it.each([
    ['a machine of the same name, or this one before it was started again', 'boot', 'earlier'],
    ['another machine', 'host', 'elsewhere'],
    ['another container', 'processes', 'pid:[1]'],
  ])('was on %s, and has not touched the file for a while', async (_, key, value) => {
    const held = await lock()
    const text = readFileSync(file(), 'utf8')
    writeFileSync(file(), text.replace(new RegExp(`"${key}":"[^"]*"`), `"${key}":"${value}"`))
    await expect(lock()).rejects.toThrow(/is being written to by depot test, process .* since/)
    const old = Date.now() / 1000 - 120
    utimesSync(file(), old, old)
    await expect(lock()).resolves.toBeDefined()
    await held[Symbol.asyncDispose]()
  })

  it.each([
    ['touches the file again', true, /is being written to by depot test/],
    ['does not touch the file again', false, /^let in$/],
  ])('was on another machine, whose clock was ahead, and %s', async (_, touches, outcome) => {
    const held = await lock()
    const text = readFileSync(file(), 'utf8')
    writeFileSync(file(), text.replace(/"host":"[^"]*"/, '"host":"elsewhere"'))
    const ahead = Date.now() / 1000 + 86_400
    utimesSync(file(), ahead, ahead)
    const next = lock({ timings: { renewMs: 100 } }).then(() => 'let in', messageOf)
    let touched = ahead
    const touching = setInterval(() => utimesSync(file(), (touched += 1), touched), 20)
    if (!touches) clearInterval(touching)
    expect(await next.finally(() => clearInterval(touching))).toMatch(outcome)
    await held[Symbol.asyncDispose]()
  })

  it('had a process id that another program has now', async () => {
    await using _ = await lock()
    const text = readFileSync(file(), 'utf8')
    writeFileSync(file(), text.replace(/"start":"[^"]*"/, '"start":"1"'))
    await expect(lock()).resolves.toBeDefined()
  })

  it('left it empty, or with something else in it, and has not touched it for a while, or did in the future', async () => {
    for (const text of ['', 'nonsense', '{"pid":1}']) {
      writeFileSync(file(), text)
      await expect(lock()).rejects.toThrow(
        `another process just began to write to ${dir}: try again in a minute`,
      )
      expect(readFileSync(file(), 'utf8')).toBe(text)
      const age = text === '' ? -86_400 : 120
      const touched = Date.now() / 1000 - age
      utimesSync(file(), touched, touched)
      const held = await lock()
      expect(readFileSync(file(), 'utf8')).toContain(`"pid":${process.pid}`)
      await held[Symbol.asyncDispose]()
    }
  })
})

it('keeps others out on a file system without links, while the file is still empty, too', async () => {
  const program = `
    import { once } from 'node:events'
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { writeFile } = fs.promises
    fs.promises.link = async () => { throw Object.assign(new Error('EPERM'), { code: 'EPERM' }) }
    fs.promises.writeFile = async (path, text, options) => {
      if (options?.flag !== 'wx') return writeFile(path, text, options)
      const file = await fs.promises.open(path, 'wx')
      console.log('empty')
      await once(process.stdin, 'data')
      await file.writeFile(text)
      await file.close()
    }
    syncBuiltinESMExports()
    const { lockFolder } = await import(${JSON.stringify(join(import.meta.dirname, 'folderlock.ts'))})
    await lockFolder({ dir: ${JSON.stringify(dir)}, program: 'depot other', onLost() {} })
    console.log('locked')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  expect(String(await once(child.stdout, 'data'))).toBe('empty\n')
  expect(readFileSync(file(), 'utf8')).toBe('')
  await expect(lock()).rejects.toThrow('another process just began to write')
  child.stdin.write('go on')
  expect(String(await once(child.stdout, 'data'))).toBe('locked\n')
  await expect(lock()).rejects.toThrow(`depot other, process ${child.pid}`)
})

it('touches the file by the clock of the file system, not its own', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
  onTestFinished(() => void vi.useRealTimers())
  await using _ = await lock({ timings: { renewMs: 10 } })
  utimesSync(file(), 1, 1)
  await vi.waitFor(() => expect(statSync(file()).mtimeMs).toBeGreaterThan(60_000))
  expect(statSync(file()).mtimeMs).toBeLessThan(Date.now() - 1_800_000)
})

it('touches the file, so that other machines see that it goes on', async () => {
  await using _ = await lock({ timings: { renewMs: 10 } })
  const old = Date.now() / 1000 - 120
  utimesSync(file(), old, old)
  await vi.waitFor(() => expect(statSync(file()).mtimeMs).toBeGreaterThan((old + 60) * 1000))
})

it.each([
  [
    'taken',
    () =>
      writeFileSync(file(), readFileSync(file(), 'utf8').replace(/"token":"[^"]*"/, '"token":"x"')),
  ],
  ['removed', () => rmSync(file())],
])('says once that the lock was %s, and leaves what is there', async (_, lose) => {
  const onLost = vi.fn<() => void>()
  const held = await lock({ timings: { renewMs: 10 }, onLost })
  lose()
  const after = existsSync(file()) && readFileSync(file(), 'utf8')
  await vi.waitFor(() => expect(onLost).toHaveBeenCalledTimes(1))
  await held[Symbol.asyncDispose]()
  expect(existsSync(file()) && readFileSync(file(), 'utf8')).toBe(after)
})

it.runIf(process.getuid?.() !== 0)('says that a folder may not be written to', async () => {
  chmodSync(dir, 0o500)
  await expect(lock()).rejects.toThrow(/cannot be written to: EACCES.*; let this user write there/)
})

it('says that a folder is not there', async () => {
  await expect(lock({ dir: join(dir, 'none') })).rejects.toThrow(
    /none cannot be written to: ENOENT/,
  )
})
