/** Facts about the versions of a config before its upstream is asked. */

import { normalizeVersion, type ProviderConfig } from '../../../api/v1alpha1/v1alpha1.ts'
import { attempt } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { ModuleOrigin } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { isStored } from '../parent/removal.ts'
import { versionStatus } from '../version/work.ts'
import type { DepotItem } from './configs.ts'
import { addressOf, missingFrom } from './listing.ts'
import type { RawChild } from './made.ts'

/** A source, and the versions that it is known to have. */
export interface KnownSource {
  /** Host and path; undefined if nobody can tell. */
  readonly address: string | undefined
  readonly versions: readonly string[]
  /** Whether it has no others. */
  readonly isListed: boolean
}

/** The sources of a config whose upstream was not listed now. */
export function knownSources(
  context: Context,
  namespace: string,
  item: DepotItem,
  object: StoredObject | undefined,
): KnownSource[] {
  const identity = identityOf(context, namespace, item.kind, item.config)
  const { all, sources } = knownVersions(context, namespace, item, object)
  const address = identity && addressOf(identity)
  return [{ address, versions: all, isListed: false }, ...sources]
}

/**
 * The versions of a resource: those of its spec, and every Version that is stored, even if its own file or that of the
 * resource cannot be read.
 */
export function knownVersions(
  { objects, removals }: Context,
  namespace: string,
  { kind, objectName }: DepotItem,
  object: StoredObject | undefined,
) {
  const { versions = [] } = (object?.spec ?? {}) as RawChild
  const isNamed = ({ metadata }: StoredObject) =>
    metadata.namespace === namespace &&
    metadata.ownerReferences.some((owner) => owner.kind === kind && owner.name === objectName)
  const owned = objects.list('Version', {
    namespace,
    ...(object !== undefined && { ownerUid: object.metadata.uid }),
  })
  const children = [...owned, ...removals.held].filter(isNamed)
  const stored = children.filter((one) => isStored(one))
  const versionOf = ({ spec }: StoredObject) => String((spec as { version?: unknown }).version)
  const gone = stored.filter((child) => versionStatus(child).upstream === 'Gone').map(versionOf)
  const named = versions.map(({ version }) => version)
  const have = new Set(named.map(normalizeVersion))
  const unnamed = stored.map(versionOf).filter((version) => !have.has(normalizeVersion(version)))
  return {
    all: [...named, ...new Set(unnamed)],
    stored: stored.map(versionOf),
    /** Those of which an archive is not stored yet, such as that of a platform that came later. */
    unstored: children.filter((one) => !isStored(one)).map(versionOf),
    // What is stored from a source that the config no longer names is judged by that source.
    sources: stored.flatMap((child) => {
      const { address } = versionStatus(child).artifact ?? {}
      return address === undefined
        ? []
        : [{ address, versions: [versionOf(child)], isListed: true }]
    }),
    /** Those that upstream had when it was last asked. */
    listed: missingFrom(gone, named),
  }
}

/** The config that a resource was made from. */
export function configIn({ spec }: StoredObject): unknown {
  const { moduleConfig, providerConfig } = spec as RawChild
  return moduleConfig ?? providerConfig
}

/** Names the place that a config takes versions from; undefined if the config cannot be read. */
export function identityOf(
  { sources }: Context,
  namespace: string,
  kind: DepotItem['kind'],
  config: unknown,
): string | undefined {
  return attempt(() =>
    kind === 'Module'
      ? sources.module(config as ModuleOrigin, namespace).identity
      : sources.provider(config as ProviderConfig, namespace).identity,
  )
}
