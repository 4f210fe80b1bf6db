import { describe, expect, it } from 'vitest'
import { type RuleFacts, ruleRefusalOf, strictest } from './policy.ts'

const now = Date.parse('2026-11-26T08:00:00Z')
const module = { kind: 'Module', system: 'aws', sinceMs: now - 36 * 3_600_000 } as const
const vpc = 'github.com/acme/terraform-aws-vpc'

function refusal(expression: string, address = vpc, facts: RuleFacts = module) {
  const policy = strictest([{ rule: { expression, reason: 'not ours' } }])
  return policy && ruleRefusalOf({ address, version: 'v1.2.0', ...facts }, policy, now)
}

describe('a rule', () => {
  it.each([
    ['upstream.host == "github.com" and upstream.namespace == "acme"', vpc, module],
    [
      'upstream.name == "vpc" and upstream.system == "aws" and upstream.namespace == "acme"',
      'r.test/acme/vpc/aws',
      { ...module, isRegistry: true },
    ],
    [
      'upstream.name == "aws" and upstream.namespace == "acme/modules"',
      'git.test/acme/modules/aws',
      module,
    ],
    ['upstream.host == "github.com" and upstream.namespace == "evil"', 'GitHub.com/Evil/X', module],
    ['upstream.type == "dns" and upstream.name == nil', 'r.test/acme/dns', { kind: 'Provider' }],
    ['upstream.version startsWith "1."', vpc, module],
    ['upstream.ageHours > 24', vpc, module],
    ['upstream.publishedAt startsWith "2026-11-24T20"', vpc, module],
    ['upstream.namespace == "group/team"', 'git.test/group/team/vpc', module],
  ] as const)('lets in what %s is true for', (expression, address, facts) => {
    expect(refusal(expression, address, facts)).toBeUndefined()
    expect(refusal(`not (${expression})`, address, facts)).toEqual({
      owner: 'Depot',
      why: 'Refused',
      message: 'refused by the rule: not ours',
    })
  })

  it.each([
    ['upstream.signedBy == "AB12"', { signedBy: 'AB12' }, 'comes in'],
    ['upstream.signedBy == "AB12"', { signedBy: 'CD34' }, 'not ours'],
    ['upstream.signedBy endsWith "12"', { signedBy: '' }, 'not ours'],
    ['upstream.signedBy == ""', { signedBy: '' }, 'comes in'],
    // Nobody looked at the signature yet: the rule decides later.
    ['upstream.signedBy == "AB12"', {}, 'comes in'],
  ])('%s of a provider decides about %j', (expression, facts, message) => {
    const found = refusal(expression, 'r.test/acme/dns', { kind: 'Provider', ...facts })
    expect(found?.message ?? 'comes in').toContain(message)
  })

  it.each([
    ['upstream.licence in ["MIT", "MPL-2.0"]', { licence: 'MIT' }, 'comes in'],
    ['upstream.licence in ["MIT", "MPL-2.0"]', { licence: 'GPL-3.0' }, 'not ours'],
    ['upstream.licence in ["MIT", "MPL-2.0"]', {}, 'not ours'],
    ['upstream.licence startsWith "M"', {}, 'not ours'],
    ['upstream.licence + "x" != ""', {}, 'cannot be evaluated'],
    ['upstream.licence == nil', {}, 'comes in'],
    ['upstream.signedBy == ""', {}, 'comes in'],
    ['upstream.signedBy == "AB12"', {}, 'not ours'],
  ])('%s of a module decides about %j', (expression, facts, message) => {
    const found = refusal(expression, vpc, { ...module, ...facts })
    expect(found?.message ?? 'comes in').toContain(message)
  })

  it('refuses what it cannot be evaluated for, and says why', () => {
    const unknown = { kind: 'Module' } as const
    expect(refusal('upstream.ageHours > 24', vpc, unknown)?.message).toMatch(
      /^refused, because the rule cannot be evaluated: /,
    )
  })

  it('does not show its text to callers whom it refuses', () => {
    expect(refusal('upstream.name > 3')?.message).not.toMatch(/\n|upstream/)
  })

  it.each([
    ['any(1..9000, upstream.name matches "x+y")', 'this takes more than 10000 steps'],
    ['any(1..999900, # < 0)', 'this needs memory for 10000 values or more'],
  ])('refuses instead of working long on %s', (expression, message) => {
    expect(refusal(expression)?.message).toContain(message)
  })

  it.each([
    ['upstream.verison == "1"', 'there is no field verison; the fields are host, '],
    ['"a" in groups', 'unknown name groups'],
    ['upstream', 'must be true or false'],
  ])('%s cannot be read', (expression, message) => {
    expect(() => refusal(expression)).toThrow(message)
  })

  it('refuses if its result is neither true nor false', () => {
    expect(refusal('upstream.version')?.message).toContain('true or false')
  })

  it('asks for dates only if it reads them', () => {
    const needs = (expression: string) =>
      strictest([{ rule: { expression, reason: 'x' } }])?.needsAge
    expect(needs('upstream.host == "a"')).toBe(false)
    expect(needs('upstream.ageHours > 1')).toBe(true)
  })
})
