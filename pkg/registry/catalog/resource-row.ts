import { type HeldWhy, whyHeld } from '../../api/held/held.ts'
import { LifecycleRules } from '../../api/lifecycle/lifecycle.ts'
import {
  configOfParent,
  holdsUnscanned,
  type ListingMemory,
  type Module,
  normalizeVersion,
  type ParentKind,
  type Provider,
  type StorageConfig,
} from '../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../base/errors/errors.ts'
import type { RowContext } from './row-context.ts'

/** Served fields of a Module or Provider. */
export class ResourceRow {
  readonly kind: ParentKind
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly revision: number
  /** Hash of the object's uid. */
  readonly identity: number
  /** Name in storage. Versions without an owner reference may use it to name their parent. */
  readonly configName: string
  readonly storage: StorageConfig | undefined
  /** Target system of a module; undefined for every system, and for providers. */
  readonly system: string | undefined
  /** Plugin protocols of a provider. */
  readonly protocols: readonly string[] | undefined
  /** The format of a module's archives, if their names do not tell it. */
  readonly fileFormat: 'zip' | 'tar' | undefined
  /** Directory of a module in its repository. */
  readonly sourcePath: string | undefined
  readonly labels: Readonly<Record<string, string>>
  /** URL of the source repository; undefined if it is unknown. */
  readonly repoUrl: string | undefined
  /** Address of a provider in its upstream registry, `host/namespace/type`; undefined without an upstream. */
  readonly upstreamAddress: string | undefined
  /** Claims of the object itself, normalised. */
  readonly latestVersion: string | undefined
  /** Its own status, independent of its Versions; undefined if it has none. */
  readonly synced: boolean | undefined
  /** Whether a person has to confirm that versions are removed. */
  readonly removalHeld: boolean
  /** The states of its versions; undefined if nobody wrote any. */
  readonly lifecycle: LifecycleRules | undefined
  /** Whether its versions wait for their first scan. */
  readonly holdsUnscanned: boolean
  /** Versions of its upstream that a policy holds back. */
  readonly heldBack: readonly HeldBackVersion[]
  /** Number of further held versions, which do not fit into the status. */
  readonly heldBackUnlisted: number
  /** @see Ranked */
  rank = 0
  generation = 0

  constructor(resource: Module | Provider, context: RowContext) {
    const { metadata } = resource
    const config = configOfParent(resource)
    this.kind = resource.kind
    this.namespace = metadata.namespace
    this.name = metadata.name
    this.uid = metadata.uid
    this.revision = revisionOf(metadata.resourceVersion)
    this.identity = identityOf(metadata.uid)
    this.configName = config.name ?? metadata.name
    this.storage = context.shared(config.storageConfig)
    this.system = resource.kind === 'Module' ? resource.spec.moduleConfig.provider : undefined
    this.protocols =
      resource.kind === 'Provider'
        ? context.shared(resource.spec.providerConfig.protocols)
        : undefined
    this.fileFormat = resource.kind === 'Module' ? resource.spec.moduleConfig.fileFormat : undefined
    this.sourcePath =
      resource.kind === 'Module' ? resource.spec.moduleConfig.source?.path : undefined
    this.labels = context.shared(metadata.labels)
    this.repoUrl = repoUrlOf(resource)
    this.upstreamAddress =
      resource.kind === 'Provider' ? resource.status?.upstreamAddress : undefined
    this.latestVersion =
      resource.status?.latestVersion && normalizeVersion(resource.status.latestVersion)
    this.synced = resource.status?.synced
    const { lifecycle = [] } = resource.spec
    this.lifecycle = lifecycle.length === 0 ? undefined : new LifecycleRules(lifecycle)
    this.holdsUnscanned = holdsUnscanned(config.scanPolicy)
    const { address = '', depot, heldBack = [], heldBackCount = 0 } = resource.status?.listing ?? {}
    this.heldBackUnlisted = Math.max(0, heldBackCount - heldBack.length)
    this.heldBack = context.shared(
      heldBack.map((entry) => ({ ...entry, why: whyHeld(entry), address, depot })),
    )
    this.removalHeld = (resource.status?.conditions ?? []).some(
      ({ type, status }) => type === 'RemovalHeld' && status === 'True',
    )
  }
}

/** The URL of the source repository. One that a person wrote takes precedence over one that Depot found. */
export function repoUrlOf(resource: Module | Provider): string | undefined {
  if (resource.kind === 'Provider') {
    const { spec, status } = resource
    return spec.providerConfig.sourceRepository ?? (status?.resolvedSourceRepository || undefined)
  }
  const { metadata, spec } = resource
  const { name = metadata.name, repoUrl, repoOwner, source } = spec.moduleConfig
  if (repoUrl !== undefined) return repoUrl
  if (source?.url !== undefined) {
    return source.type === 'github' || source.type === 'git' ? webPageOf(source.url) : undefined
  }
  if (repoOwner === undefined) return undefined
  const { apiUrl = 'https://api.github.com' } = spec.moduleConfig.githubClientConfig ?? {}
  const host = URL.parse(apiUrl)?.host.replace(/^api\./, '')
  return host && `https://${host}/${encodeURIComponent(repoOwner)}/${encodeURIComponent(name)}`
}

/** The web page of a repository. Its git URL may have the form `ssh://git@host/path.git` or `git@host:path.git`. */
function webPageOf(text: string): string | undefined {
  const [, host, path] = /^[\w.-]+@([\w.-]+):(?!\/\/)(.+)$/.exec(text) ?? []
  const url = URL.parse(host === undefined ? text : `ssh://${host}/${path ?? ''}`)
  if (url === null || !/^(?:https?|ssh):$/.test(url.protocol)) return undefined
  const isWeb = url.protocol !== 'ssh:'
  const page = url.pathname.replace(/\/+$/, '').replace(/\.git$/, '')
  return `${isWeb ? url.protocol : 'https:'}//${isWeb ? url.host : url.hostname}${page}`
}

/**
 * A hash that distinguishes objects of one name. It is shorter than the uid of 36 characters.
 *
 * @param uid of the object; empty if the source gives none
 */
export function identityOf(uid: string): number {
  let hash = 0
  for (let i = 0; i < uid.length; i += 1) hash = (Math.imul(hash, 31) + uid.charCodeAt(i)) | 0
  return hash
}

/**
 * A resourceVersion as a number, so that two of one kind can be compared. API servers count every write of the cluster, so an
 * object that was deleted and created again has a higher number.
 *
 * @returns NaN if the source does not number its revisions; NaN is neither older nor equal
 */
export function revisionOf(resourceVersion: string): number {
  return /^\d{1,15}$/.test(resourceVersion) ? Number(resourceVersion) : Number.NaN
}

type Entry = NonNullable<ListingMemory['heldBack']>[number]

/** A version of an upstream that the policy of a Depot holds back. */
export interface HeldBackVersion extends Entry {
  readonly why: HeldWhy
  /** Host and path of its source, as exceptions name it. */
  readonly address: string
  /** The Depot with the policy, as `namespace/name`. */
  readonly depot: string | undefined
}

/**
 * Formats one line about a version that is held back: the policy, since when, and who may grant an exception. Tenants write
 * the reasons, and clients print them.
 *
 * @param maxReasonBytes the rest of the line is the remedy and is never cut
 */
export function heldBackText(held: HeldBackVersion, maxReasonBytes = 8192): string {
  const message = printable(held.message ?? '', maxReasonBytes)
  return printable(textOf({ ...held, message }), 16_384)
}

function textOf(held: HeldBackVersion): string {
  const { version, since, until, why, message = '', address, depot, by } = held
  const isHere = by === 'Installation'
  const of = isHere
    ? 'of the whole installation'
    : depot === undefined
      ? 'of its Depot'
      : `of Depot ${depot}`
  const place = isHere
    ? 'ask who runs this registry for an exception in the file of --upstream-policy'
    : 'name it in spec.policy.exceptions of the Depot'
  const except = `${place}: address ${address}, version ${version}`
  const from = since === undefined ? '' : ` since ${since}`
  const again = message === '' ? '' : ` (${message})`
  const age = since === undefined ? '' : `; its age counts from ${since}${again}`
  if (why === 'TooYoung') {
    return `held back until ${until}: it is too young for the policy ${of}${age}; to take it earlier, ${except}`
  }
  if (why === 'Breaking') {
    return `refused by versionPolicy of its module${from}: ${message}; to take it, set spec.acceptBreaking: true on its Version, or ask its publisher for a new major version`
  }
  // Exceptions have no effect on allow lists.
  const list = isHere
    ? 'ask who runs this registry for a rule of allow in the file of --upstream-policy'
    : 'add a rule to spec.policy.allow of the Depot'
  const change = isHere
    ? 'ask who runs this registry to change it'
    : 'change spec.policy.rule of the Depot'
  const unsigned = isHere
    ? 'ask its publisher to sign it, or who runs this registry to change requireSignature in the file of --upstream-policy'
    : 'ask its publisher to sign it, or change requireSignature in the policy of the Depot'
  const remedy = { Denied: except, Unsigned: unsigned, NotAllowed: list, Refused: change }[why]
  return `refused by the policy ${of}${from}: ${message}; to take it, ${remedy}`
}

/** Whether to show it to people. An allow list may exclude hundreds of versions for ever. */
export const isNews = ({ why }: Pick<HeldBackVersion, 'why'>) =>
  why === 'TooYoung' || why === 'Denied'
