import * as z from 'zod'
import { optionalList, optionalOneOf, optionalText, optionalTexts } from '../schema/schema.ts'
import { Lifecycle } from './lifecycle.ts'
import { resource } from './metadata.ts'
import { VersionRefs } from './module.ts'
import { ModuleSource } from './module-source.ts'
import * as rules from './rules.ts'
import { Protocols, SharedConfig } from './shared-config.ts'
import { ListedVersion, ParentStatusFields, Steering, SyncedVersion } from './sync-status.ts'

/** Source and storage of the provider. */
export const ProviderConfig = z
  .object({
    name: z
      .string()
      .min(1)
      .optional()
      .meta({
        description: 'Type of the provider. Default: metadata.name.',
        ...rules.ruled([rules.providerType], { maxLength: 64 }),
      }),
    namespace: z
      .string()
      .default('hashicorp')
      .describe('Namespace in the public registry for binaries and sources. Default hashicorp.'),
    operatingSystems: optionalTexts('Operating systems to keep.'),
    architectures: optionalTexts('Architectures to keep.'),
    protocols: Protocols.optional().meta({
      description: 'Plugin protocol versions that the provider speaks. Default 5.0.',
      maxItems: 20,
    }),
    sourceRepository: optionalText(
      'URL of the source repository. Default: the one in the public registry.',
    ),
    docs: ModuleSource.optional().describe(
      'Source of the documentation if the archives do not contain it: a repository with the folder docs or website/docs.',
    ),
    upstreamHost: optionalText(
      'Registry of the provider: one of --upstream-hosts. Default: the first of them.',
      rules.patterned(rules.hostName, 253),
    ),
    signature: optionalOneOf(
      ['Required', 'IfPresent'],
      'Whether a release must be signed. Default Required.',
    ),
    trustedKeys: optionalList(
      z.string().meta(rules.patterned(rules.trustedKey, 65_536)),
      'Fingerprints or armored public keys. If the list is not empty, one of them must have signed the release.',
      { maxItems: 20 },
    ),
    keyPolicy: optionalOneOf(
      ['Hold', 'Follow'],
      'Treatment of a release that another key signed: Hold holds it back, Follow trusts the new key. Default Hold.',
    ),
    ...SharedConfig,
  })
  .describe('Source and storage of the provider.')
export type ProviderConfig = z.infer<typeof ProviderConfig>

const ProviderVersion = z.object({
  ...ListedVersion,
  operatingSystem: optionalText('Operating system, such as linux.'),
  architecture: optionalText('Architecture, such as amd64.'),
  ...SyncedVersion,
})

export const Provider = resource('Provider', {
  spec: {
    providerConfig: ProviderConfig,
    versions: z.array(ProviderVersion).default([]).describe('The versions that should exist.'),
    ...Lifecycle,
    ...Steering,
  },
  status: {
    ...ParentStatusFields,
    providerVersionRefs: VersionRefs.optional(),
    signingKey: optionalText('Fingerprint of the key that signed the first stored version.'),
    upstreamAddress: optionalText(
      'Address in the registry that it comes from: host/namespace/name.',
    ),
    resolvedSourceRepository: optionalText(
      'Source repository that the registry names; empty if it names none.',
    ),
  },
})
export type Provider = z.infer<typeof Provider>
