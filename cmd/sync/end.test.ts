import { expect, it } from 'vitest'
import { untilEnd } from './end.ts'

it('ends where the folder is lost', async () => {
  const lost = new AbortController()
  const end = untilEnd(lost.signal)
  lost.abort()
  await expect(end).resolves.toBe('stopped')
})

it('ends where the folder was lost before', async () => {
  await expect(untilEnd(AbortSignal.abort())).resolves.toBe('stopped')
})
