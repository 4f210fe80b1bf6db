import { normalizeVersion, type PolicyException } from '../../../api/v1alpha1/v1alpha1.ts'
import { type AddressRule, isSameAddress } from '../../policy/policy.ts'
import type { FillError } from '../../sources/sources.ts'
import { type HeldVersion, isClockSkewed } from '../parent/held-back.ts'
import {
  type ConditionChanges,
  type ConditionState,
  conditionFalse,
  conditionTrue,
  type StatusChange,
  settled,
} from '../status.ts'
import type { DepotStatus } from './configs.ts'
import type { ItemResult } from './item.ts'
import type { KnownSource } from './known.ts'

const maxItems = 200
const maxFailedNamed = 3

/** Parts of the policy of a Depot that are reported as they are. */
interface PolicyFacts {
  /** Rules that have ended. */
  readonly expired: readonly AddressRule[]
  readonly exceptions: readonly PolicyException[]
  readonly unknownBefore: DepotStatus['unknownExceptions']
}

/** Reports the configs of a Depot in its status. */
export function reportOf(
  results: readonly ItemResult[],
  before: DepotStatus | undefined,
  { expired, exceptions, unknownBefore }: PolicyFacts,
): StatusChange<DepotStatus> {
  const sorted = results.toSorted(
    (a, b) =>
      rank(a) - rank(b) || compare(a.item.kind, b.item.kind) || compare(a.item.name, b.item.name),
  )
  const namesOf = (kind: string) =>
    sorted
      .filter(({ item, isManaged }) => isManaged && item.kind === kind)
      .map(({ item }) => item.objectName)
      .toSorted(compare)
  const sources = results.flatMap((one) => one.sources)
  const unknown = unknownExceptions(exceptions, sources, unknownBefore)
  const sum = (field: 'retained' | 'skipped') => results.reduce((all, one) => all + one[field], 0)
  return {
    fields: {
      modules: namesOf('Module'),
      providers: namesOf('Provider'),
      items: sorted.slice(0, maxItems).map(({ item, found, matched, failure, suspicious }) => ({
        kind: item.kind,
        name: item.name,
        ...(found !== undefined && { found }),
        ...(matched !== undefined && { matched }),
        ...(failure !== undefined && { message: failure.message }),
        ...(suspicious !== undefined && { suspicious: { ...suspicious } }),
      })),
      itemCount: sorted.length > maxItems ? sorted.length : undefined,
      // Without asking upstream, nothing new is known.
      retained: before === undefined ? sum('retained') : before.retained,
      skipped: before === undefined ? sum('skipped') : before.skipped,
      unknownExceptions:
        unknown.length === 0
          ? undefined
          : unknown.map(({ address, version }) => ({ address, version })),
    },
    conditions: {
      ...conditionsOf(sorted),
      PolicyExpired: expiredCondition(expired),
      ExceptionUnknown: unknownCondition(unknown),
    },
  }
}

const rank = ({ failure }: ItemResult) => (failure === undefined ? 1 : 0)
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function conditionsOf(results: readonly ItemResult[]): ConditionChanges {
  const failed = results.filter(({ failure }) => failure !== undefined)
  const isRetried = failed.some(({ failure }) => failure?.terminal === false)
  const ready = readyOf(failed, results.length)
  return {
    ...settled,
    Ready: ready,
    Reconciling: isRetried
      ? conditionTrue('Progressing', 'failed configs are tried again')
      : undefined,
    Stalled:
      failed.length > 0 && !isRetried ? conditionTrue('SyncFailed', ready.message) : undefined,
    Conflict: flag(failed, 'OwnedByAnother', 'NoConflict'),
    UpstreamSuspicious: flag(failed, 'UpstreamSuspicious', 'UpstreamPlausible'),
    SourceChanged: movedCondition(failed),
    // Without asking upstream, nothing new is known.
    ...(results.some(({ skewMs }) => skewMs !== undefined) && {
      ClockSkew: skewCondition(results),
    }),
    HeldBack: heldBackCondition(
      results.map(({ item, heldBack, unlisted }) => ({ name: item.name, heldBack, unlisted })),
    ),
  }
}

function readyOf(failed: readonly ItemResult[], total: number): ConditionState {
  if (failed.length === 0) {
    return conditionTrue('Synced', `${total} of ${total} configs match upstream`)
  }
  const named = failed
    .slice(0, maxFailedNamed)
    .map(({ item, failure }) => `${item.name}: ${failure?.message ?? ''}`)
  const more = failed.length - named.length
  const message = [
    `${failed.length} of ${total} configs failed`,
    ...named,
    ...(more > 0 ? [`${more} more, see status.items`] : []),
  ].join('; ')
  return conditionFalse(failed.length < total ? 'PartiallySynced' : 'SyncFailed', message)
}

/** Absent once every source was listed. */
function movedCondition(failed: readonly ItemResult[]): ConditionState | undefined {
  const names = failed.filter(({ isMoved }) => isMoved === true).map(({ item }) => item.name)
  if (names.length === 0) return undefined
  const message = `${names.join(', ')}: the new source was not listed yet. Everything that is stored stays served`
  return conditionTrue('SourceChanged', message)
}

/** Absent while the clocks agree. */
function skewCondition(results: readonly ItemResult[]): ConditionState | undefined {
  const skewed = results.find(({ skewMs }) => isClockSkewed(skewMs))
  if (skewed?.skewMs === undefined) return undefined
  const minutes = Math.round(skewed.skewMs / 60_000)
  const message = `${skewed.item.name}: the clock of its upstream is ${Math.abs(minutes)} minutes ${minutes > 0 ? 'ahead of' : 'behind'} ours, so nobody knows how old versions are, and no new one is stored: correct the clock of the API server (without a cluster, of this machine), or wait until upstream does`
  return conditionTrue('ClockSkew', message)
}

function flag(
  failed: readonly ItemResult[],
  reason: FillError['reason'],
  otherwise: FillError['reason'],
): ConditionState {
  const found = failed.find(({ failure }) => failure?.reason === reason)
  return found === undefined
    ? conditionFalse(otherwise, 'nothing to report')
    : conditionTrue(reason, `${found.item.name}: ${found.failure?.message ?? ''}`)
}

/** An exception that names nothing that the upstreams of a Depot have. */
interface UnknownException extends PolicyException {
  readonly why: string
}

/**
 * The exceptions that name nothing. Nobody knows what a source has that was not listed now: such exceptions keep the
 * state that they had.
 */
function unknownExceptions(
  exceptions: readonly PolicyException[],
  sources: readonly KnownSource[],
  before: DepotStatus['unknownExceptions'] = [],
): UnknownException[] {
  return exceptions.flatMap((exception) => {
    const { address, version } = exception
    const wanted = normalizeVersion(version)
    const named = sources.filter((one) => one.address && isSameAddress(one.address, address))
    if (named.some((one) => one.versions.some((has) => normalizeVersion(has) === wanted))) return []
    const isListed = named.length > 0 && named.every((one) => one.isListed)
    const isElsewhere = named.length === 0 && sources.every((one) => one.address !== undefined)
    const wasUnknown = before.some((one) => one.address === address && one.version === version)
    if (!isListed && !isElsewhere && !wasUnknown) return []
    const why = named.length === 0 ? 'no config has this address' : 'upstream has no such version'
    return [{ ...exception, why }]
  })
}

const maxNamed = 10

/** Absent if nothing is held back. */
function heldBackCondition(
  held: readonly {
    readonly name: string
    readonly heldBack: readonly HeldVersion[]
    readonly unlisted: number
  }[],
) {
  const all = held.flatMap(({ name, heldBack }) => heldBack.map((one) => ({ name, ...one })))
  if (all.length === 0) return undefined
  const unlisted = held.reduce((sum, one) => sum + one.unlisted, 0)
  const [refused, young] = [true, false].map((isRefused) =>
    all
      .filter(({ why }) => (why !== 'TooYoung') === isRefused)
      .toSorted((a, b) => order(a).localeCompare(order(b)))
      .map(({ name, version, until, message, address }) =>
        isRefused
          ? `${name} ${version} (${address}), ${message}`
          : `${name} ${version} (${address}) until ${until}${message === undefined ? '' : ` (${message})`}`,
      ),
  )
  const parts = [
    listed('too young for the policy', young, '; each is stored by itself then'),
    listed('refused by the policy', refused, ''),
    unlisted > 0 ? `${unlisted} more, which do not fit into the status` : '',
    remedyFor(all),
  ]
  return conditionTrue('HeldBack', parts.filter((part) => part !== '').join('; '))
}

function remedyFor(all: readonly Pick<HeldVersion, 'by'>[]): string {
  const isHere = all.some(({ by }) => by === 'Installation')
  const also = isHere
    ? ', and what the policy of the whole installation holds in the file of --upstream-policy'
    : ''
  return `to store a young or denied one at once, name it in spec.policy.exceptions with address, version, reason and by${also}`
}

const order = ({ until = '', name }: Pick<HeldVersion, 'until'> & { readonly name: string }) =>
  `${until} ${name}`

function listed(what: string, all: readonly string[] = [], end = ''): string {
  if (all.length === 0) return ''
  const more = all.length > maxNamed ? `, and ${all.length - maxNamed} more` : ''
  return `${what} (${all.length}): ${all.slice(0, maxNamed).join(', ')}${more}${end}`
}

/** Says which exceptions name nothing that the upstreams of a Depot have. */
function unknownCondition(unknown: readonly UnknownException[]) {
  if (unknown.length === 0) return undefined
  const named = unknown.map(
    ({ address, version, by, why }) => `${version} of ${address} (by ${by}; ${why})`,
  )
  const message = `${listed('exceptions without effect', named)}: look for a typo, or remove them`
  return conditionTrue('ExceptionUnknown', message)
}

/** Says that rules of a policy have ended. */
function expiredCondition(expired: readonly AddressRule[]) {
  if (expired.length === 0) return undefined
  const named = expired.map(({ address, until }) => `${address} (until ${until})`)
  const message = `${listed('rules of the policy have ended', named)}: remove them, or give them a later until; an allow list without current entries allows nothing`
  return conditionTrue('PolicyExpired', message)
}
