import { describe, expect, it } from 'vitest'
import { Bounded } from './memory.ts'

describe('a bounded map', () => {
  it('forgets the entry that was used least recently', () => {
    const map = new Bounded<number>({ maxEntries: 2 })
    map.set('a', 1)
    map.set('b', 2)
    expect(map.get('a')).toBe(1)
    map.set('c', 3)
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3])
  })

  it('forgets entries until the values fit, and does not keep a value that never fits', () => {
    const map = new Bounded<string>({
      maxEntries: 100,
      maxBytes: 10,
      sizeOf: (value) => value.length,
    })
    map.set('a', 'four')
    map.set('b', 'four')
    map.set('c', 'four')
    expect({ size: map.size, a: map.get('a') }).toEqual({ size: 2, a: undefined })
    map.set('b', 'more than ten')
    expect({ size: map.size, b: map.get('b') }).toEqual({ size: 1, b: undefined })
  })

  it('returns no expired value, and drops expired values before valid ones', () => {
    let now = 0
    const map = new Bounded<number>({ maxEntries: 2, clock: () => now })
    map.set('short', 1, 10)
    map.set('long', 2, 100)
    now = 10
    map.set('new', 3, 100)
    expect([map.get('short'), map.get('long'), map.get('new')]).toEqual([undefined, 2, 3])
  })

  it('makes a value once', () => {
    const map = new Bounded<{ n: number }>({ maxEntries: 1 })
    let made = 0
    const make = () => ({ n: ++made })
    expect([map.getOrMake('a', make), map.getOrMake('a', make), made]).toEqual([
      { n: 1 },
      { n: 1 },
      1,
    ])
  })

  it('has room again after a value was replaced, deleted or cleared', () => {
    const map = new Bounded<string>({ maxBytes: 6, sizeOf: (value) => value.length })
    map.set('a', '12345')
    map.set('a', '1')
    map.set('b', '12345')
    expect([map.get('a'), map.get('b')]).toEqual(['1', '12345'])
    expect([map.delete('b'), map.delete('b')]).toEqual([true, false])
    map.set('c', '12345')
    expect([map.get('a'), map.get('c')]).toEqual(['1', '12345'])
    map.clear()
    expect(map.size).toBe(0)
  })
})
