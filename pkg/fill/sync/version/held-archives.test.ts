import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { HeldArchives } from './in-work.ts'
import type { Candidate } from './work.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const removed: string[] = []

function candidate(fileName: string): Candidate {
  const remove = async () => void removed.push(fileName)
  const file = { path: fileName, reservedBytes: 1, shrink: () => undefined, remove }
  return { file, fileName, sha256: '', sizeBytes: 1, contentDigest: '', revision: '' }
}

it('keeps an archive for an hour, then frees its space in the spool', async () => {
  const held = new HeldArchives(3_600_000, { waiting: 0, onFull: () => () => undefined })
  await held.keep('taken', candidate('taken'))
  await held.keep('left', candidate('left'))
  await vi.advanceTimersByTimeAsync(3_599_000)
  expect(held.take('taken')?.fileName).toBe('taken')
  expect(removed).toEqual([])
  await vi.advanceTimersByTimeAsync(2_000)
  expect(removed).toEqual(['left'])
  expect(held.take('left')).toBeUndefined()
})
