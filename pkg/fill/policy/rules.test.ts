import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { UpstreamPolicy } from '../../api/v1alpha1/v1alpha1.ts'
import { expiryOf, refusalOf, strictest } from './policy.ts'
import { ruleOf } from './rules.ts'

const now = Date.parse('2026-11-26T08:00:00Z')
const rule = (address: string, more: object = {}) => ({ address, reason: 'a reason', ...more })
const vpc = 'github.com/acme/vpc'

describe('a rule', () => {
  it.each([
    ['github.com/acme/vpc', vpc, true],
    ['GitHub.com/Acme/VPC', vpc, true],
    ['github.com/acme/*', vpc, true],
    ['github.com/*', vpc, false],
    ['github.com/**', vpc, true],
    ['github.com/acme/v*c', vpc, true],
    ['github.com/acme/vp', vpc, false],
    ['github.com/acme/vp.', vpc, false],
    ['git.test:8443/**', 'git.test/8443/vpc', true],
    ['gitXtest/vpc', 'git.test/vpc', false],
  ])('%s names %s: %s', (address, source, expected) => {
    expect(ruleOf(rule(address), 'deny').matches(source, '1.0.0')).toBe(expected)
  })

  it('names what its pattern says, read letter by letter', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '.', '/'), maxLength: 8 })
    const glob = fc.string({ unit: fc.constantFrom('a', '.', '/', '*'), maxLength: 8 })
    const names = (pattern: string, at: string): boolean => {
      const [stars = ''] = /^\**/.exec(pattern) ?? []
      const rest = pattern.slice(stars.length)
      if (pattern === '') return at === ''
      if (stars === '') return at[0] === pattern[0] && names(pattern.slice(1), at.slice(1))
      const isWithin = (end: number) => stars.length > 1 || !at.slice(0, end).includes('/')
      const ends = Array.from({ length: at.length + 1 }, (_, end) => end)
      return ends.some((end) => isWithin(end) && names(rest, at.slice(end)))
    }
    fc.assert(
      fc.property(glob, text, (address, at) => {
        expect(ruleOf(rule(address), 'deny').matches(at, '1.0.0')).toBe(names(address, at))
      }),
    )
  })

  // A matcher that goes back would not end.
  it.each(['**', '*'])('with very many %s ends', (stars) => {
    const pattern = `x/${`${stars}a`.repeat(300)}b`
    expect(ruleOf(rule(pattern), 'deny').matches(`x/${'a'.repeat(900)}`, '1.0.0')).toBe(false)
    expect(ruleOf(rule(pattern), 'deny').matches(`x/${'a'.repeat(900)}b`, '1.0.0')).toBe(true)
  })

  it.each([
    ['>= 1.2.0', '1.2.0', true, true],
    ['>= 1.2.0', 'v1.3.0', true, true],
    ['>= 1.2.0', '1.1.9', false, false],
    ['>= 1.2.0', '1.3.0-rc.1', false, true],
    ['1.2.0', '1.2.0-rc.1', false, true],
    ['~> 1.2', '1.9.0', true, true],
    ['', '1.3.0-rc.1', true, true],
  ])('for %s names %s in allow: %s, in deny: %s', (versions, version, allowed, denied) => {
    const matches = (list: 'allow' | 'deny') =>
      ruleOf(rule(vpc, { versions }), list).matches(vpc, version)
    expect([matches('allow'), matches('deny')]).toEqual([allowed, denied])
  })

  it.each(['2026-13-01', '2026-11-31T25:00:00Z'])('cannot end at %s', (until) => {
    expect(() => ruleOf(rule(vpc, { until }), 'deny')).toThrow(`until "${until}" is not a date`)
  })

  it('cannot have a constraint that no CLI accepts', () => {
    expect(() => ruleOf(rule(vpc, { versions: '=> 1' }), 'deny')).toThrow('write an operator')
  })
})

describe('a policy', () => {
  const refusal = (policies: readonly UpstreamPolicy[], version = '1.0.0', nowMs = now) => {
    const policy = strictest(policies)
    return policy && refusalOf(vpc, version, policy, nowMs)?.message
  }
  const exceptions = [{ address: vpc, version: '1.0.0', reason: 'checked', by: 'Ann' }]
  const other = rule('github.com/acme/eks')

  it.each<[string, readonly UpstreamPolicy[], string]>([
    ['that denies nothing', [{ minimumAge: '7d' }], 'undefined'],
    ['that denies it', [{ deny: [rule(vpc)] }], 'denied: a reason'],
    ['that denies another', [{ deny: [other] }], 'undefined'],
    ['that allows it', [{ allow: [other, rule(vpc)] }], 'undefined'],
    ['that allows another', [{ allow: [other] }], 'not allowed'],
    ['that allows nothing', [{ allow: [] }], 'not allowed'],
    ['that allows and denies it', [{ allow: [rule(vpc)], deny: [rule(vpc)] }], 'denied'],
    ['of two that do not allow the same', [{ allow: [rule(vpc)] }, { allow: [other] }], 'not'],
    ['that excepts what it denies', [{ deny: [rule(vpc)], exceptions }], 'undefined'],
    ['that excepts what it does not allow', [{ allow: [other], exceptions }], 'not allowed'],
    ['whose rule has ended', [{ deny: [rule(vpc, { until: '2026-11-25' })] }], 'undefined'],
    ['whose rule ends today', [{ deny: [rule(vpc, { until: '2026-11-26' })] }], 'denied until'],
    [
      'whose allow list has ended',
      [{ allow: [rule(vpc, { until: '2026-11-25' })] }],
      'not allowed',
    ],
  ])('%s', (_, policies, expected) => {
    expect(String(refusal(policies))).toContain(expected)
  })

  it('knows which rules have ended, and when the next one does', () => {
    const ended = rule(vpc, { until: '2026-11-25' })
    const next = rule(vpc, { until: '2026-11-26T09:00:00Z' })
    const policy = strictest([{ deny: [ended, rule(vpc)], allow: [next] }])
    const { expired, nextMs } = expiryOf(policy ?? { layers: [] }, now)
    expect(expired).toEqual([expect.objectContaining(ended)])
    expect(nextMs - now).toBe(3_600_000)
    expect(refusal([{ deny: [next], minimumAge: '7d' }], '1.0.0', nextMs)).toBeUndefined()
  })
})
