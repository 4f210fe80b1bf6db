import type { ModuleConfig, ProviderConfig } from '../../../api/v1alpha1/v1alpha1.ts'
import { normalizeVersion } from '../../../api/v1alpha1/v1alpha1.ts'
import type { UpstreamVersion } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import type { Item } from './configs.ts'

/** What upstream has of one item. */
export interface ItemListing {
  readonly versions: readonly Pick<UpstreamVersion, 'version' | 'commit'>[]
  readonly skipped: number
  readonly unchanged: boolean
}

export interface Asking {
  readonly signal: AbortSignal
  readonly urgent: boolean
  /** Whether upstream is asked; else what it said last is enough. */
  readonly isPoll: boolean
}

/** @throws SourceError */
export async function listItem(
  context: Context,
  namespace: string,
  { kind, config }: Item,
  { signal, urgent, isPoll }: Asking,
): Promise<ItemListing> {
  const options = {
    signal: AbortSignal.any([signal, AbortSignal.timeout(context.timings.listMs)]),
    urgent,
    maxAgeMs: isPoll ? 0 : Number.POSITIVE_INFINITY,
  }
  return kind === 'Module'
    ? context.sources.module(config, namespace).list(options)
    : context.sources.provider(config, namespace).list(options)
}

/** Names where the versions of a config come from; undefined where the config cannot be read. */
export function identityOf(
  context: Context,
  namespace: string,
  kind: Item['kind'],
  config: unknown,
): string | undefined {
  try {
    return kind === 'Module'
      ? context.sources.module(config as ModuleConfig, namespace).identity
      : context.sources.provider(config as ProviderConfig, namespace).identity
  } catch {
    return undefined
  }
}

/** Listed versions and those that are known: what vanished upstream stays. */
export function joined(
  listed: readonly { readonly version: string }[],
  known: readonly string[],
): { readonly versions: string[]; readonly vanished: ReadonlySet<string> } {
  const versions = listed.map(({ version }) => version)
  const have = new Set(versions.map(normalizeVersion))
  const vanished = known.filter((version) => !have.has(normalizeVersion(version)))
  return { versions: [...versions, ...vanished], vanished: new Set(vanished) }
}

/** A list that is empty, or lost more than half of what is known, is more likely a mistake than the truth. */
export function isSuspicious(
  listed: readonly { readonly version: string }[],
  known: readonly string[],
): boolean {
  if (known.length === 0) return false
  return listed.length === 0 || joined(listed, known).vanished.size * 2 > known.length
}
