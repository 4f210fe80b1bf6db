import * as fc from 'fast-check'
import type { UpstreamPolicy } from '../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../records/store/store.ts'
import {
  type Content,
  contents,
  type History,
  hour,
  type Key,
  type Name,
  nameOf,
  names,
} from './policy-histories.fixture.ts'

const week = '7d'
const ages: Readonly<Record<string, number>> = { [week]: 7 * 24 * hour, '3d': 3 * 24 * hour }
const isOld = 'upstream.ageHours >= 72'
const policies = [
  'week',
  'week',
  'three days',
  'none',
  'nothing trusted',
  'excepted',
  'denied',
  'allowed',
  'ruled',
  'ruled by age',
  'broken',
] as const

function policyOf(name: (typeof policies)[number], address: string): UpstreamPolicy | undefined {
  const reason = 'a test'
  const minimumAge = week
  return {
    week: { minimumAge },
    'three days': { minimumAge: '3d' },
    none: undefined,
    'nothing trusted': { minimumAge, trustFirstListing: false },
    excepted: { minimumAge, exceptions: [{ address, version: '1.2.0', reason, by: 'Ann' }] },
    denied: { minimumAge, deny: [{ address, versions: '1.1.0', reason }] },
    allowed: { minimumAge, allow: [{ address, versions: '< 2.0.0', reason }] },
    ruled: { minimumAge, rule: { expression: 'upstream.version != "1.0.1"', reason } },
    'ruled by age': { rule: { expression: isOld, reason } },
    broken: { minimumAge, rule: { expression: 'upstream.', reason } },
  }[name]
}

const name = fc.constantFrom(...names)
const content = fc.constantFrom(...contents)
const platforms = fc.constantFrom<(1 | 2)[]>(1, 2)
/** A step of a history. */
export const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('offer'), name, content, platforms }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('withdraw'), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('race'), name, content }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fail'),
      name,
      what: fc.constantFrom('list', 'sums', 'release', 'resolve', 'fetch'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('heal') }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('pass'), hours: fc.constantFrom(1, 13, 25, 72, 169) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restart') }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('die'), writes: fc.nat({ max: 15 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('save') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restore') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget') }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('policy'), policy: fc.constantFrom(...policies) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('undo') }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** The age that a policy demands. */
function ageOf({ minimumAge = '', rule }: UpstreamPolicy = {}): number {
  return rule?.expression === isOld ? 72 * hour : (ages[minimumAge] ?? 0)
}

/** Remembers what was let in by more than its age, and notes what each step breaks. */
export class Witness {
  readonly #history: History
  /** Promises that were not kept. */
  readonly broken: string[] = []
  #policy: UpstreamPolicy | undefined
  #before: UpstreamPolicy | undefined
  #saved: readonly StoredObject[] | undefined
  /** Contents that a first list lets in, by version. */
  readonly #trusted = new Set<string>()
  /** Versions in the spec of a resource that lost its status: the first list after that lets them in. */
  #restored: readonly Name[] = []
  #stored = new Map<Key, string>()
  #archives: readonly string[] = []

  constructor(history: History) {
    this.#history = history
  }

  async take(one: Step): Promise<void> {
    const history = this.#history
    if (one.do === 'offer') history.offer(one.name, one.content, one.platforms)
    else if (one.do === 'withdraw') history.offer(one.name, undefined)
    else if (one.do === 'race') history.race(one.name, one.content)
    else if (one.do === 'fail') history.fail(one.what, one.name)
    else if (one.do === 'heal') history.heal()
    else if (one.do === 'die') history.die(one.writes)
    else if (one.do === 'pass') await this.#work(() => history.pass(one.hours * hour))
    else if (one.do === 'save') this.#saved = history.save()
    else if (one.do === 'policy') await this.#edit(policyOf(one.policy, history.address))
    else if (one.do === 'undo') await this.#edit(this.#before)
    else {
      await history.stop()
      if (one.do !== 'restart') await this.#restore(one.do === 'restore' ? this.#saved : undefined)
      await this.#work(() => history.start())
    }
  }

  async #edit(policy: UpstreamPolicy | undefined): Promise<void> {
    this.#before = this.#policy
    this.#policy = policy
    await this.#history.setPolicy(policy)
    await this.#work(() => this.#history.pass(0))
  }

  /** @param saved undefined: without statuses */
  async #restore(saved: readonly StoredObject[] | undefined): Promise<void> {
    const history = this.#history
    const bare = (object: StoredObject) => ({ ...object, status: undefined })
    await history.restore(saved ?? history.save().map(bare))
    await history.setPolicy(this.#policy)
    history.alarms = []
    this.#stored = history.stored()
    if (saved === undefined) this.#restored = history.named()
  }

  /** Has the process work, and checks what it has stored. */
  async #work(work: () => Promise<void>): Promise<void> {
    const history = this.#history
    const named = history.named()
    const before = history.seen()
    const isFirst = history.status(history.parent).listing?.seen === undefined
    await work()
    if (history.isDead) {
      await history.stop()
      await history.start()
    }
    const after = history.seen()
    if (isFirst) this.#trustFirst(after)
    const { exceptions = [] } = this.#policy ?? {}
    const neededMs = ageOf(this.#policy)
    const now = history.stored()
    for (const [key, has] of now) {
      if (this.#stored.get(key) === has || neededMs === 0) continue
      const version = nameOf(key)
      if (exceptions.some((one) => one.version === version)) continue
      if (this.#trusted.has(`${version} ${has}`)) continue
      // Nobody has read what an old version of a first list is.
      if ([before, after].some((seen) => isUnnamed(seen.get(version)))) continue
      // Its fetch and the first list may come in any order.
      if (isFirst && named.includes(version)) continue
      const firstMs = history.firstMs.get(`${key} ${has}`) ?? Number.POSITIVE_INFINITY
      const ageMs = history.nowMs - firstMs + 1000
      if (ageMs < neededMs) this.broken.push(`${key} ${has} came in after ${ageMs} ms`)
    }
    this.#stored = now
    this.broken.push(...(await history.wrongFiles()))
    const archives = await history.archives()
    const removed = this.#archives.filter((one) => !archives.includes(one))
    if (removed.length > 0) this.broken.push(`removed ${removed.join(', ')}`)
    this.#archives = history.source === 'git that follows' ? [] : archives
    const alarms = history.alarms.flatMap(({ kind, note }) =>
      kind === 'Version' ? [] : (/ under \S+ than before: \w+ /.exec(note)?.[0] ?? note),
    )
    if (alarms.length > new Set(alarms).size) this.broken.push(`alarms: ${alarms.join(', ')}`)
  }

  #trustFirst(seen: ReturnType<History['seen']>): void {
    const history = this.#history
    const { firstListedAt } = history.status(history.parent).listing ?? {}
    for (const [version, one] of seen) {
      const isTrusted = this.#policy?.trustFirstListing !== false && one.since !== firstListedAt
      if (isTrusted || this.#restored.includes(version)) {
        this.#trusted.add(`${version} ${one.content ?? ''}`)
      }
    }
    if (firstListedAt !== undefined) this.#restored = []
  }

  /** Upstream and the policy stay as they are: in the end, everything that may come in is stored, and nothing is written. */
  async settle(): Promise<void> {
    const history = this.#history
    history.heal()
    history.die(Number.POSITIVE_INFINITY)
    if (this.#policy?.rule?.expression === 'upstream.') await this.#edit({ minimumAge: week })
    await this.#work(() => history.start())
    for (let day = 0; day < 24; day += 1) await this.#work(() => history.pass(25 * hour))
    const { deny = [], allow, rule } = this.#policy ?? {}
    const isAllowed = (version: Name) =>
      !(deny.length > 0 && version === '1.1.0') &&
      !(allow !== undefined && version === '2.0.0') &&
      !(rule !== undefined && rule.expression !== isOld && version === '1.0.1')
    const wanted = history.offered.filter((key) => isAllowed(nameOf(key)))
    const stored = history.stored()
    const missing = wanted.filter((key) => !stored.has(key))
    if (missing.length > 0) this.broken.push(`waits for ever: ${missing.join(', ')}`)
    const state = history.state()
    await this.#work(() => history.pass(13 * hour))
    if (history.state() !== state) this.broken.push('a poll that finds nothing new is written')
  }
}

const isUnnamed = (one: { readonly content: Content | '' | undefined } | undefined): boolean =>
  one !== undefined && one.content === undefined
