import semver from 'semver'
import * as z from 'zod'
import { normalizeVersion, type StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import { identityOfStored } from '../sync/sync.ts'
import type { ImportItem, ImportParent } from './item.ts'

export interface ImportManifestOptions {
  readonly directory: string
  readonly apiGroup: string
  readonly storage: StorageConfig
  readonly format: 'zip' | 'tar.gz'
}

/** A version as a Module or Provider lists it, and as its Version has it. */
export const ListedEntry = z.object({
  version: z.string(),
  operatingSystem: z.string().optional(),
  architecture: z.string().optional(),
})
export type ListedEntry = z.infer<typeof ListedEntry>

export const entryOf = ({ version, platform }: ImportItem): ListedEntry => ({
  version,
  ...(platform && { operatingSystem: platform.os, architecture: platform.arch }),
})

/** Equal for entries of the same version, even if one has a leading `v`. */
export const keyOf = (spec: ListedEntry): string => identityOfStored({ spec })

/** Whether one entry sorts after another; texts that are not versions sort first. */
export function isAfter(one: ListedEntry, other: ListedEntry): boolean {
  const [a, b] = [one, other].map(({ version }) => semver.parse(normalizeVersion(version)))
  if (!a || !b) return false
  const order = a.compare(b) || a.compareBuild(b)
  return order === 0 ? keyOf(one) > keyOf(other) : order > 0
}

/** The part of a config that names its module or provider. */
export const OwnerConfig = z.object({
  name: z.string().optional(),
  provider: z.string().optional(),
})

/** Whether a config belongs to a parent; absent fields fit any parent. */
export const fits = (
  { name, provider }: z.infer<typeof OwnerConfig>,
  parent: ImportParent,
): boolean => (name ?? parent.name) === parent.name && (provider ?? parent.system) === parent.system

/** The config of a Module or Provider, which its Versions repeat. */
export function configOf(
  { kind, name, system, namespace }: ImportParent,
  { storage, format }: Pick<ImportManifestOptions, 'storage' | 'format'>,
) {
  if (kind === 'Provider') return { providerConfig: { name, namespace, storageConfig: storage } }
  const fileFormat = format === 'zip' ? 'zip' : 'tar'
  const moduleConfig = {
    name,
    provider: system,
    fileFormat,
    immutable: true,
    storageConfig: storage,
  }
  return { moduleConfig }
}
