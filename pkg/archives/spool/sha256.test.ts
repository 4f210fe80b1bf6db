import { createHash, randomBytes } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { HashingThread } from './hashing-thread.ts'
import { sha256Of } from './sha256.ts'

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

it.each([0, 1, 65_536, 65_537, 262_144, 262_145, 3_000_000])(
  'gives the digest of %i bytes, however they are cut',
  async (sizeBytes) => {
    const bytes = randomBytes(sizeBytes)
    for (const cut of [1000, 65_536, 1_000_000]) {
      const hash = sha256Of(sizeBytes)
      for (let from = 0; from < sizeBytes; from += cut) {
        await hash.update(bytes.subarray(from, from + cut))
      }
      expect(await hash.digest()).toBe(digestOf(bytes))
    }
  },
)

it('keeps many digests at once apart, and takes bytes over before they change', async () => {
  const all = Array.from({ length: 40 }, () => randomBytes(1_000_000))
  const digests = await Promise.all(
    all.map(async (bytes) => {
      const hash = sha256Of(bytes.length)
      const buffer = Buffer.alloc(300_000)
      for (let from = 0; from < bytes.length; from += buffer.length) {
        const length = bytes.copy(buffer, 0, from, from + buffer.length)
        await hash.update(buffer.subarray(0, length))
        buffer.fill(0)
      }
      return hash.digest()
    }),
  )
  expect(digests).toEqual(all.map(digestOf))
})

it('goes on when digests are dropped, before and while bytes are taken over', async () => {
  const bytes = randomBytes(6_000_000)
  const dropped = Array.from({ length: 20 }, () => {
    const hash = sha256Of(bytes.length)
    const updated = hash.update(bytes)
    hash.drop()
    return updated
  })
  const hash = sha256Of(bytes.length)
  await hash.update(bytes)
  expect(await hash.digest()).toBe(digestOf(bytes))
  await Promise.all(dropped)
})

it('ends its thread once nothing was hashed for half a minute, and starts another', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const thread = new HashingThread()
    const bytes = randomBytes(1_000_000)
    for (const again of [1, 2]) {
      const [hash, dropped] = [thread.start(), thread.start()]
      await hash.update(bytes)
      expect(await hash.digest(), `time ${again}`).toBe(digestOf(bytes))
      vi.advanceTimersByTime(3_600_000)
      expect(thread.isRunning).toBe(true)
      dropped.drop()
      vi.advanceTimersByTime(29_999)
      expect(thread.isRunning).toBe(true)
      vi.advanceTimersByTime(1)
      expect(thread.isRunning).toBe(false)
    }
  } finally {
    vi.useRealTimers()
  }
})

it('starts another thread where one has ended by itself, and ends that too', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const thread = new HashingThread(`
      const { parentPort } = require('node:worker_threads')
      parentPort.on('message', ({ end }) => end && process.exit(1))`)
    await expect(thread.start().digest()).rejects.toThrow('could not be computed')
    expect(thread.isRunning).toBe(false)
    thread.start().drop()
    expect(thread.isRunning).toBe(true)
    vi.advanceTimersByTime(30_000)
    expect(thread.isRunning).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})

it('fails rather than waits where its thread has ended', async () => {
  const thread = new HashingThread('process.exit(1)')
  const bytes = randomBytes(8_000_000)
  const work = [0, 1].map(async () => {
    const hash = thread.start()
    await hash.update(bytes)
    return hash.digest()
  })
  for (const { status, reason } of (await Promise.allSettled(work)) as PromiseRejectedResult[]) {
    expect([status, reason]).toEqual([
      'rejected',
      expect.objectContaining({ name: 'RegistryError', reason: 'Unavailable' }),
    ])
  }
})
