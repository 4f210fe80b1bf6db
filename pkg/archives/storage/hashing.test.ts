import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { bytesOf } from './conformance.fixture.ts'
import type { OpenObject } from './driver.ts'
import { createFilesystemDriver } from './file/filesystem.ts'
import { createHashing } from './hashing.ts'
import type { Place } from './places.ts'
import { VerifiedObjects } from './verified-objects.ts'
import { openVerified } from './verified-reading.ts'

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

/** Requests for a part of a file; the first reading of all of it waits for `goOn` once the file is open. */
function requests() {
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
  const verified = new VerifiedObjects(10)
  const opened: OpenObject[] = []
  const hashing = createHashing({
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
  // Joined to the reading of the file before, it would wait for its end.
  await vi.waitFor(() => expect(opened).toHaveLength(2))
  const part = await after
  expect(part && (await bytesOf(part.body))).toEqual(bytes.subarray(0, 100))
  goOn()
  await expect(before).rejects.toThrow('the archive changed while it was read')
})
