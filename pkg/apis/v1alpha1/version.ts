import { z } from 'zod'
import { Metadata, SyncState } from './metadata.ts'
import { ModuleConfig } from './module.ts'
import { ProviderConfig } from './provider.ts'

const SecurityFinding = z.object({
  vulnerabilityID: z.string().default('').describe('CVE, GHSA or rule of the scanner.'),
  pkgName: z.string().default('').describe('Package that is affected.'),
  installedVersion: z.string().default('').describe('Version in use.'),
  fixedVersion: z.string().optional().describe('Lowest version that is not affected, if known.'),
  severity: z.string().default('UNKNOWN').describe('CRITICAL, HIGH, MEDIUM, LOW or UNKNOWN.'),
  title: z.string().default('').describe('Short description.'),
})
export type SecurityFinding = z.infer<typeof SecurityFinding>

const Scan = z.object({
  scannedAt: z.string().optional().describe('When the scan ended, RFC 3339.'),
  findings: z.array(SecurityFinding).default([]).describe('What the scan found.'),
})
export type Scan = z.infer<typeof Scan>

const ReadmeConfigMapRef = z.object({
  name: z.string().describe('Name of the ConfigMap.'),
  key: z.string().describe('Key of its data that holds the README, encoded as base64.'),
})

/** A newer controller may write fields that an older definition in the cluster does not know: they must not get lost. */
const openToNewFields = { 'x-kubernetes-preserve-unknown-fields': true }

/** One archive: a module version, or a provider version for one operating system and architecture. */
export const Version = z.object({
  kind: z.literal('Version'),
  metadata: Metadata,
  spec: z
    .object({
      type: z.enum(['Module', 'Provider']).describe('Kind of the parent.'),
      version: z.string().describe('Semantic version; a leading v is tolerated and never served.'),
      fileName: z.string().optional().describe('Name of the archive.'),
      operatingSystem: z.string().optional().describe('Operating system, such as linux.'),
      architecture: z.string().optional().describe('Architecture, such as amd64.'),
      protocols: z
        .array(z.string())
        .optional()
        .describe('Plugin protocol versions, where they differ from those of the provider.'),
      forceSync: z.boolean().optional().describe('Synchronise again although nothing changed.'),
      moduleConfigRef: ModuleConfig.optional(),
      providerConfigRef: ProviderConfig.optional(),
    })
    .meta({
      description: 'What is wanted.',
      'x-kubernetes-validations': [
        {
          rule: "self.type == 'Module' || !has(self.moduleConfigRef)",
          message: 'moduleConfigRef belongs to a Version of type Module',
        },
        {
          rule: "self.type == 'Provider' || !has(self.providerConfigRef)",
          message: 'providerConfigRef belongs to a Version of type Provider',
        },
      ],
    }),
  status: z
    .object({
      checksum: z
        .string()
        .optional()
        .describe('SHA-256 of the archive, encoded as base64 or hexadecimal.'),
      ...SyncState,
      archiveSizeBytes: z.int().min(0).optional().describe('Size of the archive, in bytes.'),
      artifact: z
        .object({
          fileName: z.string().optional().describe('Name of the archive that is served.'),
        })
        .optional()
        .meta({ description: 'The archive that is served.', ...openToNewFields }),
      sourceScan: Scan.optional().describe('Scan of the source code.'),
      binaryScan: Scan.optional().describe('Scan of the binary; providers only.'),
      readmeConfigMapRef: ReadmeConfigMapRef.optional().describe(
        'Where the README is kept; modules only.',
      ),
    })
    .optional()
    .meta({ description: 'What was seen last.', ...openToNewFields }),
})
export type Version = z.infer<typeof Version>
