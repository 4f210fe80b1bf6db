import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { bytesOf } from './conformance.fixture.ts'
import type { OpenObject } from './driver.ts'
import { createFilesystemDriver } from './file/filesystem.ts'
import { Hashing } from './hashing.ts'
import { openVerified, VerifiedObjects } from './known-archives.ts'
import type { Place } from './places.ts'

const bytes = randomBytes(600_000)
const sha256 = createHash('sha256').update(bytes).digest('hex')
const range = { start: 0, end: 99 }

let path: string
let place: Place

beforeEach(() => {
  const mountPath = mkdtempSync(join(tmpdir(), 'depot-hashing-'))
  onTestFinished(() => rmSync(mountPath, { recursive: true }))
  path = join(mountPath, '1.zip')
  writeFileSync(path, bytes)
  const driver = createFilesystemDriver({ mountPath })
  place = { backend: 'filesystem', driver, object: '1.zip', url: '', key: '1.zip' }
})

/** Requests for a part of a file. The first reading of the whole file waits for `goOn` after it opened the file. */
function requests() {
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
  const verified = new VerifiedObjects(10)
  const opened: OpenObject[] = []
  const hashing = new Hashing({
    open: async ({ driver, object }) => {
      const { info, body } = await driver.open(object)
      const isFirst = opened.length === 0
      const read = async () => {
        if (isFirst) await mayGoOn
        return body.read()
      }
      const slow = { info, body: { read, close: () => body.close() } }
      opened.push(slow)
      return slow
    },
    verified,
    clock: () => Date.now() + 60_000,
  })
  const request = () =>
    openVerified({
      sha256,
      range,
      verified,
      open: (from) => place.driver.open(place.object, from),
      digest: (seen) => hashing.sharedDigest(place, 'acme', seen),
    })
  return { request, opened, goOn }
}

it('answers a request for a replaced file with the digest of the new file', async () => {
  const { request, opened, goOn } = requests()
  const before = request()
  await vi.waitFor(() => expect(opened).toHaveLength(1))
  writeFileSync(`${path}.new`, bytes)
  renameSync(`${path}.new`, path)
  const after = request()
  // If it joined the reading of the previous file, it would wait for the end of that.
  await vi.waitFor(() => expect(opened).toHaveLength(2))
  const part = await after
  expect(part && (await bytesOf(part.body))).toEqual(bytes.subarray(0, 100))
  goOn()
  await expect(before).rejects.toThrow('the archive changed while it was read')
})

describe('a reading that no request waits for', () => {
  const step = 65_536

  /** Opens the file as slowly as `mayRead` is called. `from` lists the bytes at which it was opened. */
  function slowHashing() {
    const from: number[] = []
    const waiting: (() => void)[] = []
    const hashing = new Hashing({
      open: async ({ driver, object }, rest) => {
        from.push(rest?.start ?? 0)
        const { info, body } = await driver.open(object, rest)
        const read = async () => {
          await new Promise<void>((go) => waiting.push(go))
          return body.read()
        }
        return { info, body: { read, close: () => body.close() } }
      },
      verified: new VerifiedObjects(10),
      clock: Date.now,
      stepBytes: step,
    })
    const digest = async () => hashing.sharedDigest(place, 'acme', await place.driver.stat('1.zip'))
    const mayRead = async () => {
      await vi.waitFor(() => expect(waiting).not.toHaveLength(0))
      waiting.shift()?.()
    }
    return { digest, mayRead, from, waiting }
  }

  it('stops after its next step, and the next request continues it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { digest, mayRead, from, waiting } = slowHashing()
    const late = digest().catch((error: Error) => error.message)
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    vi.advanceTimersByTime(25_000)
    expect(await late).toContain('the archive is being checked')
    await mayRead()
    // It read a chunk, which is a step, and requests nothing more.
    await turns()
    expect(waiting).toHaveLength(0)

    const done = digest()
    await vi.waitFor(() => expect(from).toHaveLength(2))
    expect(from[0]).toBe(0)
    expect(from[1]).toBeGreaterThanOrEqual(step)
    const reading = setInterval(() => waiting.shift()?.(), 1)
    expect(await done).toMatchObject({ sha256, sizeBytes: bytes.length })
    clearInterval(reading)
  })

  it('does not continue in a replaced file', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { digest, mayRead, from, waiting } = slowHashing()
    const late = digest().catch((error: Error) => error.message)
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    vi.advanceTimersByTime(25_000)
    expect(await late).toContain('the archive is being checked')
    await mayRead()
    await turns()
    writeFileSync(`${path}.new`, bytes)
    renameSync(`${path}.new`, path)
    const done = digest()
    const reading = setInterval(() => waiting.shift()?.(), 1)
    expect(await done).toMatchObject({ sha256 })
    clearInterval(reading)
    expect(from).toEqual([0, 0])
  })
})

it('refuses an object that is too large to read for callers without a grant', async () => {
  const { driver } = place
  const hashing = new Hashing({
    open: async (at) => {
      const { info, body } = await driver.open(at.object)
      return { info: { ...info, sizeBytes: 5 * 2 ** 30 }, body }
    },
    verified: new VerifiedObjects(10),
    clock: Date.now,
  })
  const digest = hashing.sharedDigest(place, 'acme', await driver.stat('1.zip'))
  await expect(digest).rejects.toThrow('grant its place')
})

/** Runs everything that is ready. */
async function turns(): Promise<void> {
  for (let count = 0; count < 50; count++) await turn()
}
