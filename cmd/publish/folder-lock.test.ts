import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { OptionsError } from '../../pkg/base/options/options.ts'
import { folderLock } from './folder-lock.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'depot-publish-lock-'))
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(dir, { recursive: true })
})

it('refuses a folder that it cannot write to, without waiting', async () => {
  const locked = folderLock(join(dir, 'none'), new AbortController())
  const problem = expect.stringMatching(/^--manifests: .*none cannot be written to: ENOENT/)
  await expect(locked).rejects.toMatchObject({ problems: [problem] })
  await expect(locked).rejects.toBeInstanceOf(OptionsError)
})

it('fails with the advice to run it again if the lock is lost', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const stopped = new AbortController()
  await using _ = await folderLock(dir, stopped)
  rmSync(join(dir, '.depot.lock'))
  await vi.advanceTimersByTimeAsync(5_000)
  await vi.waitFor(() => expect(stopped.signal.aborted).toBe(true))
  expect(stopped.signal.reason).toMatchObject({
    reason: 'Unavailable',
    message: `${join(dir, '.depot.lock')} is missing: the folder was moved or unmounted, or somebody removed the file; try again in a moment`,
  })
})
