import { expect, it } from 'vitest'
import { untilEnd } from './end.ts'

it('ends where the folder is lost', async () => {
  const lost = new AbortController()
  const end = untilEnd(lost.signal)
  lost.abort()
  await expect(end).resolves.toBe('lost')
})

it('ends where the folder was lost before', async () => {
  await expect(untilEnd(AbortSignal.abort())).resolves.toBe('lost')
})
