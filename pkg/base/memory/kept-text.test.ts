import { expect, it } from 'vitest'
import { collectGarbage } from '../fast/garbage.fixture.ts'
import { keptText } from './memory.ts'

it.each(['', 'text', 'é界🚀'])('copies %j', (text) => {
  expect(keptText(text)).toBe(text)
})

it('does not keep the text of which it is a slice', () => {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const kept = Array.from({ length: 60 }, (_, index) =>
    keptText(`${index}${'x'.repeat(1_000_000)}`.slice(0, 20)),
  )
  collectGarbage()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20e6)
  expect(kept[59]).toBe(`59${'x'.repeat(18)}`)
})
