import { expect, it } from 'vitest'
import { Backoff, pause } from './backoff.ts'
import { LineSplitter } from './lines.ts'
import { isOlder } from './object.ts'

it('waits twice as long each time, up to the cap, and from the start after a reset', () => {
  const backoff = new Backoff({ firstMs: 800, capMs: 30_000, random: () => 1 })
  expect(Array.from({ length: 8 }, () => backoff.nextMs())).toEqual([
    800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000,
  ])
  backoff.reset()
  expect(backoff.nextMs()).toBe(800)
})

it('waits a random part of that', () => {
  const backoff = new Backoff({ firstMs: 800, capMs: 30_000, random: () => 0.25 })
  expect([backoff.nextMs(), backoff.nextMs()]).toEqual([200, 400])
})

it('a pause ends when it is told to stop', async () => {
  const stop = new AbortController()
  const paused = pause(60_000, stop.signal)
  stop.abort()
  await paused
  expect(stop.signal.aborted).toBe(true)
})

it.each([
  { chunks: ['a\nb\n'], lines: ['a', 'b'], pendingBytes: 0 },
  { chunks: ['a', 'b', '\n', 'c'], lines: ['ab'], pendingBytes: 1 },
  { chunks: ['\n\na\n\n'], lines: ['a'], pendingBytes: 0 },
  { chunks: ['', 'ab'], lines: [], pendingBytes: 2 },
])('cuts $chunks into $lines', ({ chunks, lines, pendingBytes }) => {
  const splitter = new LineSplitter()
  expect(chunks.flatMap((chunk) => [...splitter.push(Buffer.from(chunk))])).toEqual(lines)
  expect(splitter.pendingBytes).toBe(pendingBytes)
})

it.each([
  { version: '9', than: '10', older: true },
  { version: '10', than: '9', older: false },
  { version: '7', than: '7', older: false },
  { version: '18446744073709551614', than: '18446744073709551615', older: true },
  { version: 'opaque', than: '10', older: false },
])('$version is older than $than: $older', ({ version, than, older }) => {
  expect(isOlder(version, than)).toBe(older)
})
