import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SeenVersion } from '../../policy/policy.ts'
import { rememberedVersions, seenIn } from './seen.ts'

const now = Date.parse('2026-11-27T08:00:00Z')
const hour = 3_600_000
const mark = '0123456789abcdef01234567'
const isYoung = ({ sinceMs }: SeenVersion) => sinceMs + 7 * 24 * hour > now
type IsAwaited = (version: string) => boolean
const nobody: IsAwaited = () => false

function remembered(seen: ReadonlyMap<string, SeenVersion>, isAwaited = nobody) {
  const groups = rememberedVersions(seen, { isAwaited, isYoung })
  return seenIn({ address: '', seen: groups }, now) ?? new Map<string, SeenVersion>()
}

describe('the memory of lists', () => {
  it('has all versions of a usual list', () => {
    const seen = new Map(
      Array.from({ length: 5000 }, (_, index) => [
        `1.${index}.0`,
        { sinceMs: now - index * hour, mark },
      ]),
    )
    expect(remembered(seen)).toEqual(seen)
  })

  it('fits into a status, whatever upstream lists', () => {
    const list = fc.record({
      count: fc.constantFrom(1, 3000, 9000),
      length: fc.integer({ min: 5, max: 255 }),
      dates: fc.constantFrom(1, 100, 9000),
      marked: fc.constantFrom(0, 2, 1),
    })
    const property = fc.property(list, ({ count, length, dates, marked }) => {
      const seen = new Map<string, SeenVersion>()
      for (let index = 0; index < count; index += 1) {
        const isMarked = marked > 0 && index % marked === 0
        const sinceMs = now - (index % dates) * hour
        const name = `1.0.${index}-`.padEnd(length, 'x')
        seen.set(name, isMarked ? { sinceMs, mark } : { sinceMs })
      }
      const groups = rememberedVersions(seen, { isAwaited: nobody, isYoung })
      expect(Buffer.byteLength(JSON.stringify(groups))).toBeLessThan(600_100)
      for (const [version, one] of seenIn({ address: '', seen: groups ?? [] }, now) ?? []) {
        expect(seen.get(version)?.sinceMs).toBe(one.sinceMs)
      }
    })
    fc.assert(property, { numRuns: 5 })
  })

  it('forgets marks of old versions before versions, and those that nobody waits for first', () => {
    const seen = new Map<string, SeenVersion>()
    for (let index = 0; index < 12_000; index += 1) {
      seen.set(`1.0.${index}-nightly`, { sinceMs: now - index * hour, mark })
    }
    const awaited = (version: string) => /^1\.0\.\d{1,2}-/.test(version)
    const kept = remembered(seen, awaited)
    expect(kept.size).toBeLessThan(seen.size)
    const waiting = [...seen].filter(([version]) => awaited(version))
    expect(waiting.map(([version]) => [version, kept.get(version)])).toEqual(waiting)
    expect(kept.get('1.0.11999-nightly')).toEqual({ sinceMs: now - 11_999 * hour })
  })

  it('keeps those that have waited for the longest time, with their marks', () => {
    const seen = new Map<string, SeenVersion>()
    for (let index = 0; index < 9000; index += 1) {
      seen.set(`1.0.${index}-`.padEnd(200, 'x'), { sinceMs: now - index * 1000, mark })
    }
    const kept = remembered(seen, () => true)
    expect(kept.size).toBeGreaterThan(2000)
    const oldest = [...seen.keys()].slice(-kept.size)
    expect([...kept.keys()].toSorted()).toEqual(oldest.toSorted())
    expect([...kept.values()].every((one) => one.mark === mark)).toBe(true)
  })
})
