import { lifecycleWords } from '../../pkg/api/lifecycle/lifecycle.ts'
import type { Condition, Depot, Module, Version } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { printable } from '../../pkg/base/errors/errors.ts'
import type { Objects, StoredObject } from '../../pkg/records/store/store.ts'

/** Explains the state of an object. */
export interface Story {
  readonly object: string
  readonly asked?: string | undefined
  readonly answered?: string | undefined
  readonly decided: string
  /** The command that solves the problem, or that nothing has to be done; undefined if nothing is wrong. */
  readonly remedy?: string | undefined
}

interface Where {
  readonly apiGroup: string
  /** The folder; undefined for a cluster. */
  readonly manifests: string | undefined
  /** The folder of archives, if the person named it. */
  readonly archives?: string | undefined
  /** The name that the question is about, whose config a Depot shows first. */
  readonly name: string
}

interface AnyConfig {
  readonly name?: string
  readonly provider?: string
  readonly namespace?: string
  readonly upstreamHost?: string
  readonly repoUrl?: string
  readonly repoOwner?: string
  readonly source?: { readonly type?: string; readonly url?: string }
  readonly versionConstraints?: string
}

type AnyStatus = NonNullable<Module['status']> & NonNullable<Version['status']>

export function configOf({ spec }: StoredObject): AnyConfig | undefined {
  const { moduleConfig, providerConfig, moduleConfigRef, providerConfigRef } = spec as Readonly<
    Record<string, AnyConfig | undefined>
  >
  return moduleConfig ?? providerConfig ?? moduleConfigRef ?? providerConfigRef
}

export function storyOf(object: StoredObject, objects: Objects, where: Where): Story {
  const { kind, metadata } = object
  const config = configOf(object)
  const depot = depotOf(object, objects, where)
  const answered = kind === 'Depot' ? polledBy(object, where) : answerFor(object, depot, config)
  return {
    object: `${kind} ${metadata.namespace}/${metadata.name}`,
    asked: config && askedFor(config, object, depot),
    answered,
    decided: decidedFor(object),
    remedy: remedyFor(object, depot, where),
  }
}

function depotOf(
  { kind, metadata: { namespace, labels } }: StoredObject,
  objects: Objects,
  { apiGroup }: Where,
): StoredObject | undefined {
  const name = labels[`${apiGroup}/depot`]
  return kind === 'Depot' || name === undefined ? undefined : objects.get('Depot', namespace, name)
}

function askedFor(config: AnyConfig, { kind, spec }: StoredObject, depot?: StoredObject): string {
  const { source, repoUrl, repoOwner, name, namespace, upstreamHost, versionConstraints } = config
  const place =
    source?.url ??
    repoUrl ??
    (repoOwner !== undefined
      ? `github.com/${repoOwner}`
      : [upstreamHost, namespace, name].filter(Boolean).join('/'))
  const { version } = spec as Version['spec']
  const parts = [
    kind === 'Version' ? `${version} of ${place}` : `versions of ${place}`,
    versionConstraints && `with the constraint "${versionConstraints}"`,
    depot && `for Depot ${depot.metadata.name}`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** The answers of upstream to the configs of a Depot, to the one in question first. */
function polledBy({ status }: StoredObject, { name: asked }: Where): string {
  const { items = [], lastPoll } = (status ?? {}) as NonNullable<Depot['status']>
  const first = items.toSorted((a, b) => Number(b.name === asked) - Number(a.name === asked))
  const found = first.slice(0, 10).map(({ name, found: count = 0, matched = 0, message }) => {
    return message === undefined
      ? `${name} ${count} versions (${matched} wanted)`
      : `${name}: ${message}`
  })
  const when = lastPoll === undefined ? 'not asked yet' : `at ${lastPoll}`
  return [when, ...found].map((text) => printable(text, 1000)).join('; ')
}

function answerFor(
  object: StoredObject,
  depot: StoredObject | undefined,
  config: AnyConfig | undefined,
): string | undefined {
  if (object.kind === 'Version') {
    const { artifact, attempted, drift, upstream } = (object.status ?? {}) as AnyStatus
    if (upstream === 'Gone') return 'upstream no longer has it'
    const refused =
      attempted &&
      `refused: ${attempted.revision} at ${attempted.at ?? 'some time'}, ${attempted.failures ?? 1} times`
    const drifted = drift && `other content since ${drift.since}: ${drift.revision}`
    return (
      drifted ??
      refused ??
      (artifact?.revision && `${artifact.revision}, stored at ${artifact.storedAt}`)
    )
  }
  const { items = [], lastPoll } = (depot?.status ?? {}) as NonNullable<Depot['status']>
  const item = items.find(({ kind, name }) => kind === object.kind && name === config?.name)
  if (item === undefined) return undefined
  const answer = item.message ?? `${item.found ?? 0} versions, ${item.matched ?? 0} of them wanted`
  return printable(`${answer} (asked at ${lastPoll ?? 'some time'})`, 1000)
}

function conditionsOf({ status }: StoredObject): readonly Condition[] {
  return ((status ?? {}) as AnyStatus).conditions ?? []
}

function decidedFor(object: StoredObject): string {
  const { versionCounts, skipped = [], lifecycle } = (object.status ?? {}) as AnyStatus
  const words = lifecycle && lifecycleWords(lifecycle)
  const counts =
    versionCounts &&
    `${versionCounts.wanted} wanted, ${versionCounts.synced} stored, ${versionCounts.failed} failed`
  // A Depot counts what its Modules and Providers list.
  const listed = object.kind === 'Depot' ? [] : skipped.slice(0, 3)
  const skips = listed.map(({ version, message }) => `skipped ${version}: ${message}`)
  const told = conditionsOf(object)
    .filter(
      ({ type, status }) =>
        type === 'Ready' ||
        (status === 'True' && isWorthTelling(type)) ||
        (type === 'SemVer' && status === 'False'),
    )
    .map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`)
  const state = lifecycle && `${lifecycle.state}${words && `: ${words}`}`
  const all = [state, counts, ...told, ...skips].filter((text) => text !== undefined)
  return all.length === 0
    ? 'nothing yet: neither a controller nor depot sync has seen it'
    : printable(all.join('; '), 2000)
}

const isWorthTelling = (type: string): boolean =>
  [
    'Drifted',
    'RemovalHeld',
    'HeldBack',
    'PolicyExpired',
    'ExceptionUnknown',
    'ClockSkew',
    'UpstreamSuspicious',
    'SourceChanged',
    'Conflict',
    'Suspended',
  ].includes(type)

/** Finds the one command that helps most. */
function remedyFor(object: StoredObject, depot: StoredObject | undefined, where: Where) {
  const conditions = conditionsOf(object)
  const isTrue = (type: string) =>
    conditions.find((one) => one.type === type && one.status === 'True')
  const named = [isTrue('RemovalHeld'), isTrue('UpstreamSuspicious')].find(
    (one) => one !== undefined,
  )
  // These messages end with the command.
  if (named !== undefined) return /with: (.*)$/.exec(named.message)?.[1] ?? named.message
  if (isTrue('Suspended')) return edit(object, where, 'suspend', false)
  const ready = conditions.find(({ type }) => type === 'Ready')
  const isDrifted = isTrue('Drifted') !== undefined
  if (ready === undefined) return again(depot ?? object, where)
  if (ready.status === 'True' && !isDrifted) return undefined
  if (ready.reason === 'ArchiveLost') return deleteOf(object, where)
  if (ready.reason === 'BreakingChange') return edit(object, where, 'acceptBreaking', true)
  if (isDrifted && ready.status === 'False') return deleteOf(object, where)
  if (isDrifted) return `${again(object, where)} (it replaces the archive)`
  const isRefused = ready.reason !== 'RateLimited' && isRefusal(ready.message)
  if (isTrue('Stalled') || isRefused) {
    return `change what the message names, then: ${again(object, where)}`
  }
  return where.manifests === undefined
    ? `nothing, it is tried again; at once with: ${again(object, where)}`
    : `nothing, the next run tries again: ${again(object, where)}`
}

/** Whether an upstream or a storage wants other credentials, which no retry brings. */
const isRefusal = (message: string): boolean => /\banswered (?:with status )?40[13]\b/.test(message)

const syncOf = ({ manifests = '', archives }: Where): string =>
  `depot sync --manifests ${manifests}${archives === undefined ? '' : ` --archives ${archives}`}`

function again({ kind, metadata }: StoredObject, where: Where): string {
  const { apiGroup } = where
  if (where.manifests !== undefined) return syncOf(where)
  return `kubectl annotate ${kind.toLowerCase()}s.${apiGroup} ${metadata.name} --namespace ${metadata.namespace} ${apiGroup}/sync-requested-at="$(date)" --overwrite`
}

function edit(
  { kind, metadata }: StoredObject,
  where: Where,
  field: string,
  value: boolean,
): string {
  if (where.manifests !== undefined)
    return `set spec.${field}: ${value} in its manifest, then: ${syncOf(where)}`
  const patch = JSON.stringify({ spec: { [field]: value } })
  return `kubectl patch ${kind.toLowerCase()}s.${where.apiGroup} ${metadata.name} --namespace ${metadata.namespace} --type merge -p '${patch}'`
}

/** Deletes a Version, so that it is created and fetched again. */
function deleteOf({ metadata: { namespace, name } }: StoredObject, where: Where): string {
  return where.manifests === undefined
    ? `kubectl delete versions.${where.apiGroup} ${name} --namespace ${namespace}`
    : `rm ${where.manifests}/versions/${namespace}/${name}.yaml && ${syncOf(where)}`
}
