import { expect, it } from 'vitest'
import { untilEnd } from './end.ts'

it('ends when another process locks the folder', async () => {
  const lost = new AbortController()
  const end = untilEnd(lost.signal)
  lost.abort()
  await expect(end).resolves.toBe('lost')
})

it('ends at once if another process had locked the folder before', async () => {
  await expect(untilEnd(AbortSignal.abort())).resolves.toBe('lost')
})
