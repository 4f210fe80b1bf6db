import { expect, it } from 'vitest'
import { cpuTimeMs } from '../../../hack/testbed/cpu-time.ts'
import { parseRange } from './archive-response.ts'

it('takes blanks, as some clients write them', () => {
  expect(parseRange(' bytes = 10 - 19 ', 1000)).toEqual({ start: 10, end: 19 })
  expect(parseRange('bytes=9007199254740991-9007199254740991', 1000)).toBe('unsatisfiable')
})

it.each([
  `bytes=${' '.repeat(60_000)}x`,
  `bytes=1-${' '.repeat(60_000)}x`,
  `${' '.repeat(60_000)}bytes=1-2`,
  `bytes=${'1'.repeat(60_000)}-x`,
])('ignores a header of 60,000 characters (%#) in no time', (header) => {
  const before = cpuTimeMs()
  for (let times = 0; times < 20; times += 1) expect(parseRange(header, 1000)).toBe('whole')
  // Blanks that were looked at again and again took three seconds each time.
  expect(cpuTimeMs() - before).toBeLessThan(5_000)
})
