import { describe, expect, it, vi } from 'vitest'
import { type Packed, tarOf, zipOf } from './packed.fixture.ts'

const entries: Packed[] = [
  { path: 'folder/' },
  { path: 'folder/main.tf', content: '# empty\n' },
  { path: 'link', target: 'folder/main.tf' },
]

describe('archives of tests', () => {
  it.each([
    ['zip', () => zipOf(entries)],
    ['tar', () => tarOf(entries)],
  ])('have the same bytes at any time: %s', async (_format, packed) => {
    const first = await packed()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    try {
      expect((await packed()).equals(first)).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })
})
