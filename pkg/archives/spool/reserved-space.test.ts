import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openSpool } from './spool.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'depot-spool-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const { signal } = new AbortController()

it('reserves space for files, and releases it with the file', async () => {
  const spool = await openSpool({ dir, sizeBytes: 100 })
  const file = await spool.reserve(60, { signal })
  writeFileSync(file.path, 'x')
  expect(spool.reservedBytes).toBe(60)
  file.shrink(10)
  expect([spool.reservedBytes, file.reservedBytes]).toEqual([10, 10])
  await file.remove()
  await file.remove()
  expect([spool.reservedBytes, existsSync(file.path)]).toEqual([0, false])
  await spool.close()
  expect(readdirSync(dir)).toEqual([])
})

it('makes reservations wait for space, in their order', async () => {
  const spool = await openSpool({ dir, sizeBytes: 100 })
  const first = await spool.reserve(60, { signal })
  const order: string[] = []
  let waited = 0
  const onWaiting = () => {
    waited += 1
  }
  const large = spool.reserve(80, { signal, onWaiting }).then((file) => {
    order.push('large')
    return file
  })
  const small = spool.reserve(20, { signal, onWaiting }).then(() => order.push('small'))
  expect(waited).toBe(2)
  await first.remove()
  await (await large).remove()
  await small
  expect(order).toEqual(['large', 'small'])
})

it('never makes an empty reservation wait', async () => {
  const spool = await openSpool({ dir, sizeBytes: 100 })
  const archive = await spool.reserve(100, { signal })
  const waiting = spool.reserve(100, { signal })
  const small = await spool.reserve(0, { signal })
  writeFileSync(small.path, 'small')
  await small.remove()
  expect([spool.reservedBytes, spool.waiting]).toEqual([100, 1])
  await archive.remove()
  await (await waiting).remove()
})

it('calls its listeners after a reservation began to wait', async () => {
  const spool = await openSpool({ dir, sizeBytes: 100 })
  const first = await spool.reserve(60, { signal })
  const waiting: number[] = []
  const forget = spool.onFull(() => {
    waiting.push(spool.waiting)
    void first.remove()
  })
  await spool.reserve(80, { signal })
  forget()
  expect([waiting, spool.waiting]).toEqual([[1], 0])
})

it('drops a waiting reservation when its signal is aborted, and continues the next one', async () => {
  const spool = await openSpool({ dir, sizeBytes: 100 })
  await spool.reserve(60, { signal })
  const leaving = new AbortController()
  const left = spool.reserve(100, { signal: leaving.signal })
  const next = spool.reserve(40, { signal })
  leaving.abort(new Error('left'))
  await expect(left).rejects.toThrow('left')
  await next
  expect(spool.reservedBytes).toBe(100)
})

it('refuses a file that can never fit', async () => {
  const spool = await openSpool({ dir, sizeBytes: 100 })
  await expect(spool.reserve(101, { signal })).rejects.toMatchObject({ reason: 'ArchiveTooLarge' })
})

it('removes only the files of ended processes', async () => {
  mkdirSync(join(dir, 'fetch-999999999-abc'))
  mkdirSync(join(dir, `fetch-${process.ppid}-abc`))
  mkdirSync(join(dir, 'fetches'))
  await openSpool({ dir, sizeBytes: 100 })
  const left = readdirSync(dir)
  expect(left).toContain('fetches')
  expect(left).toContain(`fetch-${process.ppid}-abc`)
  expect(left).not.toContain('fetch-999999999-abc')
})
