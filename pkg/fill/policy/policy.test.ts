import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { UpstreamPolicy } from '../../api/v1alpha1/v1alpha1.ts'
import {
  agesFor,
  type CandidateVersion,
  exceptionsFor,
  freeMs,
  type Policy,
  refusalOf,
  type SeenVersion,
  seenVersions,
  strictest,
} from './policy.ts'

const day = 86_400_000
const now = Date.parse('2026-11-26T08:00:00Z')
const week = { minimumAgeMs: 7 * day, trustFirstListing: true }
/** The policy of a Depot under that of the installation. */
function policyOf(ofDepot: UpstreamPolicy, installation?: UpstreamPolicy): Policy {
  const policy = strictest([ofDepot], installation)
  if (policy === undefined) throw new Error('lets everything in')
  return policy
}
const plain = (...versions: readonly string[]) => versions.map((version) => ({ version }))

/** The versions of a list that may come in. */
function admitted(
  listed: readonly CandidateVersion[],
  before: ReadonlyMap<string, SeenVersion> | undefined,
  policy = week,
  nowMs = now,
): string[] {
  const seen = seenVersions(listed, before, policy, { nowMs })
  return [...seen].filter(([, one]) => freeMs(one, policy) <= nowMs).map(([version]) => version)
}

it.each([
  [[], undefined],
  [[{}], undefined],
  [[{ minimumAge: '7d' }], week],
  [[{ minimumAge: '90m' }], { ...week, minimumAgeMs: 5_400_000 }],
  [[{ minimumAge: '36h' }, { minimumAge: '7d' }], week],
  [[{ minimumAge: '7d' }, { trustFirstListing: false }], { ...week, trustFirstListing: false }],
])('takes the strictest of %j', (policies, expected) => {
  const found = strictest(policies)
  const { minimumAgeMs, trustFirstListing } = found ?? {}
  expect(found && { minimumAgeMs, trustFirstListing }).toEqual(expected)
})

it('lets exactly the version of an exception in', () => {
  const word = fc.constantFrom('git.test/vpc', 'git.test/VPC', 'git.test/eks', 'other.test/vpc')
  const number = fc.constantFrom('1.0.0', 'v1.0.0', '1.0.0-rc.1', '1.0.1')
  const exception = { address: 'git.test/vpc', version: '1.0.0', reason: 'CVE', by: 'ann' }
  fc.assert(
    fc.property(word, number, (address, version) => {
      const isIt = /^git\.test\/vpc$/i.test(address) && /^v?1\.0\.0$/.test(version)
      const policy = policyOf({ minimumAge: '7d', exceptions: [exception] })
      expect(exceptionsFor(address, version, policy)).toEqual(isIt ? [exception] : [])
    }),
  )
})

it.each(['git.test:8443/vpc', 'git.test/8443/vpc'])(
  'an exception of %s names a port',
  (address) => {
    const exception = { address, version: '1.0.0', reason: 'a fix', by: 'Ann' }
    const policy = policyOf({ minimumAge: '7d', exceptions: [exception] })
    expect(exceptionsFor('git.test/8443/vpc', '1.0.0', policy)).toEqual([exception])
  },
)

describe('the policy of the installation', () => {
  const [address, version] = ['git.test/vpc', '1.0.0']
  const exceptions = [{ address, version, reason: 'CVE', by: 'ann' }]
  const deny = [{ address, reason: 'stolen' }]
  const agesIn = (policy: Policy) => Object.values(agesFor(address, version, policy))
  const ownerIn = (policy: Policy) => refusalOf(address, version, policy, now)?.owner

  it('is passed by its own exceptions alone', () => {
    const [strict, open] = [{ minimumAge: '14d', deny }, { minimumAge: '7d' }]
    expect(agesIn(policyOf({ ...open, exceptions }, strict))).toEqual([0, 14 * day])
    expect(ownerIn(policyOf({ ...open, exceptions }, strict))).toBe('Installation')
    const excepted = policyOf(open, { ...strict, exceptions })
    expect(agesIn(excepted)).toEqual([7 * day, 0])
    expect(ownerIn(excepted)).toBeUndefined()
  })

  it('lets a Depot be stricter, whatever it excepts', () => {
    expect(ownerIn(policyOf({ deny }, { exceptions }))).toBe('Depot')
    expect(ownerIn(policyOf({ allow: [] }, { exceptions }))).toBe('Depot')
    expect(ownerIn(policyOf({ allow: deny }, { allow: [] }))).toBe('Installation')
    expect(
      policyOf({ minimumAge: '1d', trustFirstListing: true }, { trustFirstListing: false }),
    ).toMatchObject({ minimumAgeMs: day, trustFirstListing: false })
  })

  it('is never weaker with a Depot than alone', () => {
    const age = fc.option(fc.constantFrom('1d', '7d', '14d'), { nil: undefined })
    const list = fc.option(fc.constantFrom([], deny), { nil: undefined })
    const some = fc.constantFrom([], exceptions)
    const any = fc.record({ minimumAge: age, allow: list, deny: list, exceptions: some })
    const strictness = (policy: Policy | undefined) => ({
      ms: policy ? Math.max(...agesIn(policy)) : 0,
      isRefused: policy !== undefined && ownerIn(policy) !== undefined,
    })
    fc.assert(
      fc.property(any, any, (ofDepot, installation) => {
        const alone = strictness(strictest([], installation))
        const both = strictness(strictest([ofDepot], installation))
        expect(both.ms).toBeGreaterThanOrEqual(alone.ms)
        expect(both.isRefused || !alone.isRefused).toBe(true)
      }),
    )
  })
})

it('refuses in the words that earlier releases stored, so that a refusal keeps its start', () => {
  const messageIn = (policy: Policy) => refusalOf('git.test/vpc', '1.0.0', policy, now)?.message
  expect(messageIn(policyOf({ allow: [] }))).toBe('not allowed: no rule of the allow list names it')
  const deny = [{ address: 'git.test/vpc', reason: 'stolen' }]
  expect(messageIn(policyOf({ deny }))).toBe('denied: stolen')
})

describe('a version', () => {
  const since = (sinceMs: number, mark?: string) => new Map([['1.0.0', { sinceMs, mark }]])

  it.each([
    ['seen a week ago', plain('1.0.0'), since(now - 7 * day), ['1.0.0']],
    ['seen a second later', plain('1.0.0'), since(now - 7 * day + 1000), []],
    ['that is new', plain('1.0.0', '1.0.1'), since(0), ['1.0.0']],
    ['spelled with v', plain('v1.0.0'), since(0), ['1.0.0']],
    ['with the same commit', [{ version: '1.0.0', mark: 'a' }], since(0, 'a'), ['1.0.0']],
    ['with another commit', [{ version: '1.0.0', mark: 'b' }], since(0, 'a'), []],
    ['whose list stopped naming commits', plain('1.0.0'), since(0, 'a'), ['1.0.0']],
    ['whose list began to name commits', [{ version: '1.0.0', mark: 'a' }], since(0), ['1.0.0']],
  ])('%s', (_, listed, before, expected) => {
    expect(admitted(listed, before)).toEqual(expected)
  })

  it('stays remembered with its commit when a list does not name it', () => {
    const once = seenVersions(plain('1.0.0'), since(0, 'a'), week, { nowMs: now })
    expect(admitted([{ version: '1.0.0', mark: 'b' }], once)).toEqual([])
  })

  it('may not come in if nobody listed it', () => {
    expect(freeMs(undefined, week)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('a version with a date of its host', () => {
  const dated = (publishedMs: number, mark?: string) => [{ version: '1.0.0', publishedMs, mark }]
  const seen = (sinceMs: number, mark?: string) => new Map([['1.0.0', { sinceMs, mark }]])
  const sinceOf = (
    listed: readonly CandidateVersion[],
    before: ReadonlyMap<string, SeenVersion> | undefined,
    lastMs?: number,
  ) => seenVersions(listed, before, week, { nowMs: now, lastMs }).get('1.0.0')?.sinceMs

  it.each([
    ['a first list', dated(now - 3 * day), undefined, now - 3 * day],
    ['a first list, in the future', dated(now + day), undefined, now],
    ['a first list, unreadable', dated(Infinity), undefined, now],
    ['a list after one with it, in the future', dated(now + day), seen(now - day), now - day],
    ['a list after one without it', dated(now - 3 * day), new Map(), now - day],
    ['a list after one without it, published since', dated(now - 60_000), new Map(), now - 60_000],
    ['a list after one with it', dated(now - 9 * day), seen(now - 2 * day), now - 2 * day],
    ['a list after one without a date', dated(now - day), seen(now - 2 * day), now - day],
    ['a list with another commit', dated(now - 9 * day, 'b'), seen(now - 9 * day, 'a'), now],
  ])('counts in %s', (_, listed, before, expected) => {
    expect(sinceOf(listed, before, now - day)).toBe(expected)
  })

  it('is older than all others of a first list whose dates are missing or not believable', () => {
    const others = ['1.0.1', '1.0.2', '1.0.3', '1.0.4', '1.0.5'].map((version, n) =>
      n === 0 ? { version } : { version, publishedMs: now + n * day },
    )
    expect(admitted([...dated(now - 9 * day), ...others], undefined)).toEqual(['1.0.0'])
    expect(admitted(others, undefined)).toEqual([])
  })

  it('counts from now if nobody knows when the last list came', () => {
    expect(sinceOf(dated(now - 3 * day), new Map())).toBe(now)
  })
})

describe('a first list', () => {
  it.each([
    [plain('1.0.0'), []],
    [plain('1.0.0', '1.0.1', '1.0.2', '1.0.3', '1.0.10'), ['1.0.0', '1.0.1']],
    [plain('1.0.0', '1.0.1', '2.0.0', '2.1.0', '2.2.0'), ['1.0.0']],
    [plain('1.0.0-rc.1', '1.0.0', '1.0.1', '1.0.2'), ['1.0.0-rc.1']],
  ])(
    'lets in what is not the newest of its line, nor of the newest three: %j',
    (listed, expected) => {
      expect(admitted(listed, undefined)).toEqual(expected)
      expect(admitted(listed, undefined, { ...week, trustFirstListing: false })).toEqual([])
    },
  )

  it('lets in what is older than the newest of 40 lines', () => {
    const all = Array.from({ length: 400 }, (_, n) => `1.${Math.floor(n / 10)}.${n % 10}`)
    const expected = all.filter((version) => !version.endsWith('.9'))
    expect(admitted(plain(...all), undefined)).toEqual(
      expected.filter((version) => !['1.39.8', '1.39.7'].includes(version)),
    )
  })
})

describe('whatever upstream lists', () => {
  const lists = fc.uniqueArray(
    fc.tuple(fc.nat(3), fc.nat(3), fc.nat(5)).map((all) => all.join('.')),
  )
  const days = fc.integer({ min: 1, max: 60 })

  it('a version comes in no earlier than the minimum age after a list that lacked it', () => {
    fc.assert(
      fc.property(lists, lists, days, days, (first, second, age, waited) => {
        const policy = { ...week, minimumAgeMs: age * day }
        const seen = seenVersions(plain(...first), undefined, policy, { nowMs: now })
        const again = seenVersions(plain(...second), seen, policy, { nowMs: now })
        const came = admitted(plain(...second), again, policy, now + waited * day)
        const fresh = second.filter((version) => !first.includes(version))
        expect(came.filter((version) => fresh.includes(version))).toEqual(
          waited >= age ? fresh : [],
        )
      }),
    )
  })

  it('a version may come in later too, unless it changes', () => {
    fc.assert(
      fc.property(lists, days, (listed, waited) => {
        const seen = seenVersions(plain(...listed), undefined, week, { nowMs: now })
        const then = admitted(plain(...listed), seen, week, now + waited * day)
        expect(then).toEqual(expect.arrayContaining(admitted(plain(...listed), undefined)))
      }),
    )
  })

  it('a longer minimum age never lets in more versions', () => {
    fc.assert(
      fc.property(lists, days, days, days, (listed, age, more, waited) => {
        const seen = seenVersions(plain(...listed), undefined, week, { nowMs: now })
        const at = (minimumAgeMs: number) =>
          admitted(plain(...listed), seen, { ...week, minimumAgeMs }, now + waited * day)
        expect(at(age * day)).toEqual(expect.arrayContaining(at((age + more) * day)))
      }),
    )
  })
})

it('counts no age from before a list that did not have the content, whatever a host says', () => {
  const hour = 3_600_000
  const versions = ['1.0.0', '1.0.1', '1.1.0', '2.0.0']
  const published = fc.option(
    fc.oneof(fc.integer({ min: -400 * day, max: 9 * day }), fc.constant(Infinity)),
    { nil: undefined },
  )
  const one = fc.record({
    version: fc.constantFrom(...versions),
    mark: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
    publishedIn: published,
  })
  const poll = fc.record({
    waitMs: fc.integer({ min: hour, max: 9 * day }),
    listed: fc.uniqueArray(one, { selector: ({ version }) => version }),
  })
  fc.assert(
    fc.property(fc.array(poll, { minLength: 2, maxLength: 8 }), (polls) => {
      let nowMs = now
      let before: Map<string, SeenVersion> | undefined
      for (const { waitMs, listed } of polls) {
        const lastMs = nowMs
        nowMs += waitMs
        const dated = listed.map(({ publishedIn, ...rest }) => ({
          ...rest,
          publishedMs: publishedIn === undefined ? undefined : nowMs + publishedIn,
        }))
        const seen = seenVersions(dated, before, week, { nowMs, lastMs })
        for (const { version, mark } of listed) {
          const { sinceMs = Number.NaN } = seen.get(version) ?? {}
          expect(sinceMs).toBeLessThanOrEqual(nowMs)
          if (before === undefined) continue
          const known = before.get(version)
          const isOther = known?.mark !== undefined && mark !== undefined && known.mark !== mark
          expect(sinceMs).toBeGreaterThanOrEqual(isOther ? nowMs : (known?.sinceMs ?? lastMs))
        }
        before = seen
      }
    }),
  )
})
