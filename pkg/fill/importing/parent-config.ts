import * as z from 'zod'
import type { StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import type { ImportParent } from './item.ts'

export interface ManifestOptions {
  readonly directory: string
  readonly apiGroup: string
  readonly storage: StorageConfig
  readonly format: 'zip' | 'tar.gz'
}

/** Whose a Module, Provider or Version is. */
export const Config = z.object({ name: z.string().optional(), provider: z.string().optional() })

/** Whether a config is of a parent; what it does not say fits. */
export const fits = ({ name, provider }: z.infer<typeof Config>, parent: ImportParent): boolean =>
  (name ?? parent.name) === parent.name && (provider ?? parent.system) === parent.system

/** What a Module or Provider says of itself, and its Versions of it. */
export function configOf(
  { kind, name, system, namespace }: ImportParent,
  { storage, format }: ManifestOptions,
) {
  return kind === 'Module'
    ? {
        moduleConfig: {
          name,
          provider: system,
          fileFormat: format === 'zip' ? 'zip' : 'tar',
          immutable: true,
          storageConfig: storage,
        },
      }
    : { providerConfig: { name, namespace, storageConfig: storage } }
}
