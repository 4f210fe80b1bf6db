import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLogger } from '../../../base/telemetry/telemetry.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { strictest } from '../../policy/policy.ts'
import type { Context } from '../context.ts'
import { admission, heldBackIn } from './held-back.ts'

const minute = 60_000
const day = 1440 * minute
const start = Date.parse('2026-11-26T00:00:00Z')
const address = 'git.test/vpc'
const known = ['1.0.0', '1.0.1', '1.1.0', '1.2.0', '2.0.0', '2.1.0'] as const
const ages = { '1h': 60 * minute, '1d': day, '7d': 7 * day } as const
/** A clock that is this much ahead is still believed. */
const believedMs = 4 * minute

const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const version = fc.constantFrom(...known)
const ruleFor = fc.record(
  {
    address: fc.constantFrom(address, 'git.test/*'),
    versions: version,
    reason: fc.constant('r'),
    until: fc.constantFrom('2026-11-30T00:00:00Z', '2027-11-30T00:00:00Z'),
  },
  { requiredKeys: ['address', 'reason'] },
)
const policies = fc.record(
  {
    minimumAge: fc.constantFrom(...(Object.keys(ages) as (keyof typeof ages)[])),
    deny: fc.array(ruleFor, { maxLength: 2 }),
    allow: fc.array(ruleFor, { minLength: 1, maxLength: 4 }),
    exceptions: fc.array(
      fc.record({
        address: fc.constant(address),
        version,
        reason: fc.constant('e'),
        by: fc.constant('A'),
      }),
      { maxLength: 2 },
    ),
    trustFirstListing: fc.boolean(),
    rule: fc.record({
      expression: fc.constantFrom(
        'upstream.version != "1.1.0"',
        'upstream.ageHours > 48',
        'upstream.licence == "MIT"',
        'upstream.version + 1',
      ),
      reason: fc.constant('x'),
    }),
  },
  { requiredKeys: [] },
)
type Drawn = typeof policies extends fc.Arbitrary<infer T> ? T : never

/** A poll of a Depot, with what upstream has at that moment. */
const polls = fc.record({
  waitedMs: fc.integer({ min: 1, max: 10 * day }),
  tags: fc.dictionary(version, fc.constantFrom('a'.repeat(40), 'b'.repeat(40))),
  /** How far the clock is ahead of that of upstream. */
  aheadMs: fc.constantFrom(0, 0, 0, believedMs, -believedMs, 10 * day, -10 * day, 6 * minute),
  depot: some(policies),
  installation: some(policies),
})
const dates = fc.dictionary(version, fc.integer({ min: start - 60 * day, max: start + 30 * day }))

const bare: StoredObject = {
  kind: 'Module',
  metadata: {
    name: 'vpc',
    namespace: 'team',
    uid: 'u',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: {},
    annotations: {},
    finalizers: [],
    ownerReferences: [],
  },
  spec: {},
  status: undefined,
}

/** Content of a tag, and the earliest moment from which its age may count. */
interface Content {
  readonly mark: string
  readonly fromMs: number
}

/** The newest of each minor version, and the newest three, of versions with one digit in each part. */
function newestIn(versions: readonly string[]): string[] {
  const sorted = versions.toSorted().toReversed()
  const lineOf = (one: string) => one.slice(0, 3)
  const ofLines = sorted.filter(
    (one, index) => sorted.findIndex((other) => lineOf(other) === lineOf(one)) === index,
  )
  return [...sorted.slice(0, 3), ...ofLines]
}

/** Straight words of a policy about a version, without its age. */
function isRefusedBy(policy: Drawn, one: string, nowMs: number): boolean {
  const holds = (rule: { versions?: string; until?: string }) =>
    (rule.versions ?? one) === one && Date.parse(rule.until ?? '2999-01-01') > nowMs
  const isExcepted = policy.exceptions?.some((exception) => exception.version === one) === true
  if (policy.deny?.some(holds) === true && !isExcepted) return true
  if (policy.allow !== undefined && !policy.allow.some(holds)) return true
  const { expression } = policy.rule ?? {}
  if (expression === 'upstream.version != "1.1.0"') return one === '1.1.0'
  return expression?.includes('licence') === true || expression === 'upstream.version + 1'
}

const ageIn = (policy: Drawn, one: string): number =>
  policy.exceptions?.some((exception) => exception.version === one) === true
    ? 0
    : ages[policy.minimumAge ?? '1h'] * (policy.minimumAge === undefined ? 0 : 1)

it('lets in nothing that a policy refuses, and says of all else why, since when and until when', async () => {
  const property = fc.asyncProperty(
    fc.array(polls, { maxLength: 8 }),
    dates,
    async (all, dated) => {
      let trueMs = start
      let status: unknown
      let lastMs: number | undefined
      let seen: ReadonlyMap<string, Content> | undefined
      for (const { waitedMs, tags, aheadMs, depot, installation } of all) {
        trueMs += waitedMs
        const nowMs = trueMs + aheadMs
        const drawn = [depot, installation].filter((one) => one !== undefined)
        const policy = strictest(depot === undefined ? [] : [depot], installation)
        // A restart knows what is written, and nothing else.
        let parent: StoredObject = { ...bare, status: JSON.parse(JSON.stringify(status ?? {})) }
        const context = {
          clock: () => nowMs,
          log: createLogger('silent'),
          objects: {
            writeStatus: (object: StoredObject, after: unknown) => {
              parent = { ...object, status: after }
              return Promise.resolve(parent)
            },
          },
        } as unknown as Context
        const versions = Object.entries(tags).map(([one, commit]) => ({
          version: `v${one}`,
          commit,
          ...(dated[one] !== undefined && { publishedAt: new Date(dated[one]).toISOString() }),
        }))
        const listed = { address, kind: 'Module', versions, skewMs: -aheadMs, lastMs } as const
        const { mayCome, remember } = admission(context, bare, parent, listed, policy)
        const came = versions.filter((one) => mayCome(one.version))
        const held = versions.filter((one) => !mayCome(one.version)).map((one) => one.version)
        await remember(parent, held)
        status = parent.status

        const isBelieved = Math.abs(aheadMs) <= believedMs
        if (policy?.needsAge !== true) seen = undefined
        else if (isBelieved) {
          const before = seen
          const isUndated = Object.keys(tags).every((one) => dated[one] === undefined)
          const isTrusted = isUndated && drawn.every((each) => each.trustFirstListing !== false)
          const contentOf = (one: string, mark: string): Content => {
            const had = before?.get(one)
            if (had?.mark === mark) return had
            const young =
              before === undefined && isTrusted ? newestIn(Object.keys(tags)) : undefined
            const at = dated[one] ?? Infinity
            const listedMs = had === undefined ? (lastMs ?? trueMs) : trueMs
            const fromMs = before === undefined ? at : Math.max(at, listedMs)
            const isOld = young?.includes(one) === false
            return { mark, fromMs: isOld ? -Infinity : Math.min(fromMs, trueMs) }
          }
          seen = new Map(Object.entries(tags).map(([one, mark]) => [one, contentOf(one, mark)]))
        }
        for (const { version: text } of came) {
          const one = text.slice(1)
          expect(drawn.some((each) => isRefusedBy(each, one, nowMs))).toBe(false)
          const ageMs = Math.max(0, ...drawn.map((each) => ageIn(each, one)))
          if (ageMs === 0) continue
          expect(isBelieved).toBe(true)
          const { fromMs = Infinity } = seen?.get(one) ?? {}
          expect(trueMs - fromMs).toBeGreaterThanOrEqual(ageMs - 2 * believedMs - 1000)
        }
        const entries = policy === undefined ? [] : heldBackIn(parent)
        expect(entries.map((entry) => entry.version).toSorted()).toEqual(held.toSorted())
        for (const { why, since, until, message } of entries) {
          expect(Date.parse(since ?? '')).toBeGreaterThan(0)
          const isYoung = message === undefined && Date.parse(until ?? '') > nowMs - 1000
          const isRefused = until === undefined && /\w/.test(message ?? '')
          expect(why === 'TooYoung' ? isYoung : isRefused).toBe(true)
        }
        if (isBelieved) lastMs = trueMs
      }
    },
  )
  await fc.assert(property, { numRuns: 300 })
})
