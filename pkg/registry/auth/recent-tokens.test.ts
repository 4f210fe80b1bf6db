import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RecentTokens } from './callers.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const signature = 's'.repeat(86)
const header = `Bearer header.payload.${signature}`

it('knows the hash of a header, and of no other one with the same end', () => {
  const recent = new RecentTokens()
  recent.keep(header, 'hash')
  expect(recent.hashOf(header)).toBe('hash')
  for (const other of [
    `bearer header.payload.${signature}`,
    `Bearer header.another.${signature}`,
    `Bearer header.payload.${signature} `,
    signature,
    signature.slice(-12),
    '',
  ]) {
    expect(recent.hashOf(other)).toBeUndefined()
  }
})

it('forgets every token within a minute, however often it was used', () => {
  const recent = new RecentTokens()
  recent.keep(header, 'hash')
  vi.advanceTimersByTime(59_000)
  const late = `Bearer late.payload.${'t'.repeat(86)}`
  recent.keep(late, 'late')
  expect(recent.hashOf(header)).toBe('hash')
  vi.advanceTimersByTime(1000)
  expect([recent.hashOf(header), recent.hashOf(late)]).toEqual([undefined, undefined])
  recent.keep(header, 'hash')
  expect(recent.hashOf(header)).toBe('hash')
  vi.advanceTimersByTime(60_000)
  expect(recent.hashOf(header)).toBeUndefined()
  expect(vi.getTimerCount()).toBe(0)
})

it('keeps no token that is unusually long', () => {
  const recent = new RecentTokens()
  const long = `Bearer ${'x'.repeat(4096)}`
  recent.keep(long, 'hash')
  expect(recent.hashOf(long)).toBeUndefined()
})
