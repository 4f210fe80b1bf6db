/** Brings a Provider to where its spec says: a Version for each of its versions and each platform of it. */
import type { ProviderConfig } from '../../../api/v1alpha1/v1alpha1.ts'
import { normalizeVersion } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject, StoredRef } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import type { UpstreamProviderVersion } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { isRetained, ownedBy } from '../parent/children.ts'
import { type Desired, listedVersions, retention, type Skipped } from '../parent/desired.ts'
import { reconcileParent, type Wish } from '../parent/reconcile-parent.ts'
import type { ParentStatus } from '../parent/report.ts'
import { resourceOf } from '../resource.ts'
import { firstStored } from './first-signers.ts'
import { platformsOf } from './platforms.ts'

/** A list that is younger is not asked for again, as long as it has every version that is wanted. */
const listMaxAgeMs = 24 * 60 * 60_000

export function reconcileProvider(
  context: Context,
  ref: StoredRef,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  return reconcileParent(context, ref, (object, request) =>
    wishOf(context, object, { signal, urgent: request !== undefined }),
  )
}

interface Asking {
  readonly signal: AbortSignal
  readonly urgent: boolean
}

async function wishOf(context: Context, object: StoredObject, asking: Asking): Promise<Wish> {
  const { spec, metadata } = resourceOf('Provider', object)
  const children = ownedBy(context, object)
  const retained = new Set(
    children
      .filter(isRetained)
      .map((child) => normalizeVersion(String((child.spec as { version?: unknown }).version))),
  )
  const { listed, skipped } = listedVersions(spec.versions)
  const { providerConfig } = spec
  const kept = retention(listed, providerConfig.versionHistoryLimit, (version) =>
    retained.has(version),
  )
  const config = { ...providerConfig, name: providerConfig.name ?? metadata.name }
  const upstream =
    kept.length === 0
      ? new Map()
      : await upstreamVersions(context, config, metadata.namespace, kept, asking)
  const desired: Desired[] = []
  const lacking: Skipped[] = [...skipped]
  for (const one of kept) {
    const platforms = platformsOf(one, upstream.get(one.version), providerConfig)
    desired.push(...platforms.desired.map((wanted) => withProtocols(wanted, providerConfig)))
    lacking.push(...platforms.skipped)
  }
  const { providerConfig: given } = object.spec as { providerConfig: Record<string, unknown> }
  const key = (object.status as ParentStatus | undefined)?.signingKey ?? firstStored(children)
  return {
    config: { type: 'Provider', config: { ...given, name: config.name } },
    desired,
    skipped: lacking,
    fields: { signingKey: key },
  }
}

/** What the provider says of its protocols wins over upstream. */
function withProtocols(desired: Desired, config: ProviderConfig): Desired {
  if (config.protocols === undefined) return desired
  const { protocols: _, ...rest } = desired
  return rest
}

async function upstreamVersions(
  context: Context,
  config: ProviderConfig & { readonly name: string },
  namespace: string,
  wanted: readonly { readonly version: string }[],
  { signal, urgent }: Asking,
): Promise<ReadonlyMap<string, UpstreamProviderVersion>> {
  const upstream = context.sources.provider(config, namespace)
  const listNoOlderThan = async (maxAgeMs: number) => {
    const deadline = AbortSignal.timeout(context.timings.listMs)
    const { versions } = await upstream.list({
      signal: AbortSignal.any([signal, deadline]),
      urgent,
      maxAgeMs,
    })
    return new Map(versions.map((version) => [version.version, version]))
  }
  const known = await listNoOlderThan(urgent ? 0 : listMaxAgeMs)
  const isComplete = wanted.every(({ version }) => known.has(version))
  return isComplete || urgent ? known : listNoOlderThan(60_000)
}
