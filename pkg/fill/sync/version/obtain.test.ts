import { expect, it } from 'vitest'
import { decide } from './obtain.ts'

const stored = { contentDigest: 'tree1:a', fileName: 'vpc-1.0.0-0123456789ab.zip' }
const same = { contentDigest: 'tree1:a', fileName: 'vpc-1.0.0-0123456789ab.zip' }
const other = { contentDigest: 'tree1:b', fileName: 'vpc-1.0.0-ba9876543210.zip' }
const quiet = { lost: false, wanted: false }

it.each([
  { policy: 'never', fetched: other, situation: { lost: false, wanted: true }, is: 'drifted' },
  { policy: 'never', fetched: other, situation: { lost: true, wanted: false }, is: 'lost' },
  { policy: 'ask', fetched: other, situation: quiet, is: 'drifted' },
  { policy: 'ask', fetched: other, situation: { lost: false, wanted: true }, is: 'replace' },
  { policy: 'ask', fetched: other, situation: { lost: true, wanted: false }, is: 'lost' },
  { policy: 'follow', fetched: other, situation: quiet, is: 'replace' },
  { policy: 'follow', fetched: other, situation: { lost: true, wanted: false }, is: 'replace' },
  { policy: 'never', fetched: same, situation: quiet, is: 'keep' },
  { policy: 'never', fetched: same, situation: { lost: true, wanted: false }, is: 'store' },
] as const)('$policy, $situation: $is', ({ policy, fetched, situation, is }) => {
  expect(decide(stored, fetched, { policy, ...situation })).toBe(is)
})

it('stores the first archive with any policy', () => {
  expect(decide(undefined, other, { policy: 'never', ...quiet })).toBe('store')
  expect(decide({}, other, { policy: 'never', ...quiet })).toBe('store')
})

it('stores the same content in another packing again', () => {
  const packed = { ...same, fileName: 'vpc-1.0.0-0123456789ab.tar.gz' }
  expect(decide(stored, packed, { policy: 'never', lost: false, wanted: true })).toBe('store')
})
