import { expect, it } from 'vitest'
import { goDuration, secondsOf } from './go-duration.ts'

it.each([
  ['15m', 900],
  ['1h30m', 5400],
  ['1.5h', 5400],
  ['2m3s', 123],
  ['1500ms', 1.5],
  ['250us', 0.00025],
  ['8ns', 8e-9],
  ['0s', 0],
])('%s is %d seconds', (duration, seconds) => {
  expect(duration).toMatch(goDuration)
  expect(secondsOf(duration)).toBeCloseTo(seconds, 12)
})

it.each(['', '15', 'm', '1.m', '.5h', '-1s', '1h 30m', '1d', '1H', 'PT15M'])(
  '%j is not a duration',
  (text) => {
    expect(text).not.toMatch(goDuration)
  },
)
