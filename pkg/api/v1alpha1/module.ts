import * as z from 'zod'
import { optionalFlag, optionalOneOf, optionalText } from '../schema/schema.ts'
import { Lifecycle } from './lifecycle.ts'
import { resource } from './metadata.ts'
import { ModuleSource } from './module-source.ts'
import * as rules from './rules.ts'
import { SharedConfig } from './shared-config.ts'
import { ListedVersion, ParentStatusFields, Steering, SyncedVersion } from './sync-status.ts'

/** Source and storage of the module. */
export const ModuleConfig = z
  .object({
    name: z
      .string()
      .min(1)
      .optional()
      .meta({
        description: 'Name of the module. Default: metadata.name.',
        ...rules.ruled([rules.moduleName], { maxLength: 64 }),
      }),
    provider: optionalText(
      'Target system of the module, such as aws: the third part of its source address.',
      rules.ruled([rules.targetSystem], { maxLength: 64 }),
    ),
    repoOwner: optionalText('Owner of the source repository.'),
    repoUrl: optionalText('URL of the source repository.'),
    source: ModuleSource.optional(),
    fileFormat: optionalOneOf(['zip', 'tar'], 'Format of the archives.'),
    immutable: optionalFlag('Refuse an archive that differs from the first one that was stored.'),
    versionPolicy: optionalOneOf(
      ['None', 'Warn', 'Enforce'],
      'What to do with a version that breaks callers without a new major version. Warn: set the condition SemVer=False. Enforce: do not store it either, until its Version has spec.acceptBreaking. Default: None.',
    ),
    ...SharedConfig,
  })
  .describe('Source and storage of the module.')
export type ModuleConfig = z.infer<typeof ModuleConfig>

const ModuleVersion = z.object({
  ...ListedVersion,
  fileName: optionalText('Name of the archive.'),
  ...SyncedVersion,
})

const VersionRef = z.object({
  name: optionalText('Name of the Version object.'),
  fileName: optionalText('Name of the archive.'),
  ...SyncedVersion,
})

/** `status.*VersionRefs`: the Version object of each version string. */
export const VersionRefs = z.record(z.string(), VersionRef).meta({
  description: 'The Version object of each of the newest 1,000 versions.',
  // Otherwise the API server records the owner of every field in it, which is as large again.
  'x-kubernetes-map-type': 'atomic',
})

export const Module = resource('Module', {
  spec: {
    moduleConfig: ModuleConfig,
    versions: z.array(ModuleVersion).default([]).describe('The versions that should exist.'),
    ...Lifecycle,
    ...Steering,
  },
  status: {
    ...ParentStatusFields,
    moduleVersionRefs: VersionRefs.optional(),
  },
})
export type Module = z.infer<typeof Module>
