import * as z from 'zod'
import { Metadata, SyncState } from './metadata.ts'
import { VersionRefs } from './module.ts'
import { Protocols } from './protocols.ts'
import * as rules from './rules.ts'
import { SharedConfig } from './shared-config.ts'
import {
  ForceSync,
  LatestVersion,
  ListedVersion,
  ParentCounts,
  Reconciled,
  Suspend,
  SyncedVersion,
} from './sync-status.ts'

/** How a provider is found, fetched and stored. */
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
      .describe(
        'Namespace in the public registry that binaries and sources are looked up in. Default hashicorp.',
      ),
    operatingSystems: z.array(z.string()).optional().describe('Operating systems to keep.'),
    architectures: z.array(z.string()).optional().describe('Architectures to keep.'),
    protocols: Protocols.optional().meta({
      description: 'Plugin protocol versions that the provider speaks. Default 5.0.',
      maxItems: 20,
    }),
    sourceRepository: z
      .string()
      .optional()
      .describe('URL of the source repository. Default: what the public registry says.'),
    upstreamHost: z
      .string()
      .optional()
      .meta({
        description:
          'Registry that the provider comes from; one of --upstream-hosts. Default: the first of them.',
        ...rules.patterned(rules.hostName, 253),
      }),
    signature: z
      .enum(['Required', 'IfPresent'])
      .optional()
      .describe('Whether a release must be signed. Default Required.'),
    trustedKeys: z
      .array(z.string().meta(rules.patterned(rules.trustedKey, 65_536)))
      .optional()
      .meta({
        description:
          'Fingerprints or armored public keys; where there are any, one of them must have signed.',
        maxItems: 20,
      }),
    keyPolicy: z
      .enum(['Hold', 'Follow'])
      .optional()
      .describe(
        'What to do with a release that another key signed: hold it back, or follow. Default Hold.',
      ),
    ...SharedConfig,
  })
  .describe('How a provider is found, fetched and stored.')
export type ProviderConfig = z.infer<typeof ProviderConfig>

const ProviderVersion = z.object({
  ...ListedVersion,
  operatingSystem: z.string().optional().describe('Operating system, such as linux.'),
  architecture: z.string().optional().describe('Architecture, such as amd64.'),
  ...SyncedVersion,
})

export const Provider = z.object({
  kind: z.literal('Provider'),
  metadata: Metadata,
  spec: z
    .object({
      providerConfig: ProviderConfig,
      versions: z.array(ProviderVersion).default([]).describe('The versions that should exist.'),
      ...ForceSync,
      ...Suspend,
    })
    .describe('What is wanted.'),
  status: z
    .object({
      ...LatestVersion,
      ...SyncState,
      providerVersionRefs: VersionRefs.optional(),
      signingKey: z
        .string()
        .optional()
        .describe('Fingerprint of the key that signed the first version that was stored.'),
      ...ParentCounts,
      ...Reconciled,
      resolvedSourceRepository: z
        .string()
        .optional()
        .describe('Source repository that the first scan found.'),
    })
    .optional()
    .describe('What was seen last.'),
})
export type Provider = z.infer<typeof Provider>
