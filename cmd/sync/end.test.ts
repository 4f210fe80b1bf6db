import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { untilEnd } from './end.ts'
import { onlyOne } from './sync.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

it('says that its folder is empty, such as an unmounted one, and not that another process writes there', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const dir = mkdtempSync(join(tmpdir(), 'depot-end-'))
  const lost = Promise.withResolvers<void>()
  await using _ = await onlyOne(dir, 'depot sync', () => lost.resolve())
  rmSync(join(dir, '.depot.lock'))
  await vi.advanceTimersByTimeAsync(5_000)
  await lost.promise
  expect(written).toHaveBeenCalledWith(
    `depot sync: ${join(dir, '.depot.lock')} is missing: the folder was moved or unmounted, or somebody removed the file. So this process ends; start it again when it is alone and the folder is back\n`,
  )
})

it('ends when another process locks the folder', async () => {
  const lost = new AbortController()
  const end = untilEnd(lost.signal)
  lost.abort()
  await expect(end).resolves.toBe('lost')
})

it('ends at once if another process had locked the folder before', async () => {
  await expect(untilEnd(AbortSignal.abort())).resolves.toBe('lost')
})
