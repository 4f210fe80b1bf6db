import * as z from 'zod'
import {
  oneOf,
  optionalCount,
  optionalFlag,
  optionalList,
  optionalOneOf,
  optionalText,
  text,
} from '../schema/schema.ts'
import {
  ArchiveDocs,
  Artifact,
  Attempt,
  Drift,
  ReleaseDocuments,
  Replaced,
  Substitution,
} from './artifact.ts'
import { Compared } from './compared.ts'
import { EffectiveLifecycle, VersionLifecycle } from './lifecycle.ts'
import { resource, SyncState } from './metadata.ts'
import { ModuleConfig } from './module.ts'
import { ProviderConfig } from './provider.ts'
import { Published } from './published.ts'
import * as rules from './rules.ts'
import { Scan, ScanSummary } from './scan.ts'
import { Protocols } from './shared-config.ts'
import { Reconciled, Steering } from './sync-status.ts'

const ReadmeConfigMapRef = z.object({
  name: text('Name of the ConfigMap.'),
  key: text('Key in its data with the README, encoded as base64.'),
})

/** The key of the interface in the ConfigMap of a README. Readers of READMEs skip it. */
export const interfaceKey = 'interface.json'

const InterfaceConfigMapRef = z.object({
  name: optionalText('Name of the ConfigMap.'),
  key: optionalText('Key in its data with the interface as JSON, encoded as base64.'),
  error: optionalText('Why the interface is not in a ConfigMap.'),
})

const FileName = z.string().meta(rules.ruled(rules.fileName, { maxLength: 255 }))

/** At most as many as a publication has files. */
const maxPlatforms = 100

const ReleasePlatform = z.object({
  platform: text('Operating system and architecture, such as linux_amd64.', { maxLength: 65 }),
  sha256: text('SHA-256 of its archive, encoded as hexadecimal.', { maxLength: 64 }),
})

/** Publishes an archive through a spec alone, which is all that GitOps tools can write. */
const Upload = z
  .object({
    fileName: FileName.optional().describe('Name of the archive. Default: spec.fileName.'),
    sha256: text(
      'SHA-256 of the archive, encoded as hexadecimal or base64.',
      rules.ruled([rules.digest], { minLength: 43, maxLength: 64 }),
    ),
    sizeBytes: optionalCount('Size of the archive, in bytes.'),
    contentDigest: optionalText('Digest of the files in the archive.'),
    publication: optionalText(
      'Id of the publication over HTTP. The controller finds under it who published this version, and writes that into status.published.',
      { maxLength: 64 },
    ),
    docs: ArchiveDocs.optional().describe(
      'Documentation of the module or provider, stored next to the archive.',
    ),
    release: optionalList(
      ReleasePlatform,
      'All platforms that were published together with this one. This Version is served once each of them has a Version, and stays served then. Providers only.',
      { maxItems: maxPlatforms },
    ),
  })
  .describe('Archive that was stored by hand or by CI. The status takes precedence.')

const QuarantineEntry = z.object({
  by: oneOf(['ScanPolicy', 'UpstreamPolicy'], 'The policy that wrote this entry.'),
  message: text('Why, and what to do. Callers of a refused download read it.'),
  since: text('Time when the policy decided it first, RFC 3339.'),
  owner: optionalOneOf(
    ['Depot', 'Installation'],
    'Whose UpstreamPolicy it is: that of the Depot, or that of the whole installation. Older releases did not write it.',
  ),
})

/** A newer controller may write fields that an older definition does not know. They must not be lost. */
const openToNewFields = { 'x-kubernetes-preserve-unknown-fields': true }

/** One archive: a module version, or a provider version for one operating system and architecture. */
export const Version = resource('Version', {
  spec: {
    type: oneOf(['Module', 'Provider'], 'Kind of the parent.'),
    version: text('Semantic version. A leading v is dropped.'),
    fileName: FileName.optional().describe('Name of the archive.'),
    operatingSystem: optionalText(
      'Operating system, such as linux.',
      rules.ruled(rules.operatingSystem, { maxLength: 32 }),
    ),
    architecture: optionalText(
      'Architecture, such as amd64.',
      rules.ruled(rules.architecture, { maxLength: 32 }),
    ),
    protocols: Protocols.optional().meta({
      description: 'Plugin protocol versions, if they differ from those of the provider.',
      maxItems: 20,
    }),
    ...Steering,
    retain: optionalFlag('Keep this Version even if its parent no longer lists it.'),
    acceptBreaking: optionalFlag(
      'Store and serve this Version although it breaks callers without a new major version. Modules with a versionPolicy only.',
    ),
    lifecycle: VersionLifecycle.optional(),
    moduleConfigRef: ModuleConfig.optional(),
    providerConfigRef: ProviderConfig.optional(),
    upload: Upload.optional(),
  },
  status: {
    checksum: optionalText(
      'SHA-256 of the archive, encoded as base64 or hexadecimal.',
      rules.ruled([rules.digest], { maxLength: 128 }),
    ),
    ...SyncState,
    archiveSizeBytes: optionalCount('Size of the archive, in bytes.'),
    artifact: Artifact.optional().meta({
      description: 'The archive that is served.',
      ...openToNewFields,
    }),
    release: ReleaseDocuments.optional().describe(
      'Documents of the upstream release. Providers only.',
    ),
    published: Published.optional(),
    drift: Drift.optional().describe('Upstream content that differs from the served archive.'),
    substitutions: optionalList(
      Substitution,
      'Other archives that upstream had under this version, which were refused. They stay when upstream is back.',
      { maxItems: 10 },
    ),
    upstream: optionalOneOf(
      ['Gone'],
      '`Gone` if upstream no longer lists this version. It stays served.',
    ),
    lifecycle: EffectiveLifecycle.optional(),
    quarantineEndedAt: optionalText('Time when it was last released from quarantine, RFC 3339.'),
    quarantinedBy: optionalList(
      QuarantineEntry,
      'The policies that refuse this version, each with one entry. While there is one, the version is Quarantined: lists do not have it, and nobody can download it.',
      { maxItems: 10, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['by'] },
    ),
    attempted: Attempt.optional().describe(
      'Refused archive. It is fetched again after a wait that grows to about five hours.',
    ),
    replaced: optionalList(
      Replaced,
      'Files in storage that newer ones replaced, until they are removed.',
      { maxItems: 100 },
    ),
    previousDigests: optionalList(z.string(), 'Content digests of previously served archives.', {
      maxItems: 5,
    }),
    compared: Compared.optional().describe(
      'Comparison with the previous stored version of the same major version. Modules only.',
    ),
    ...Reconciled,
    sourceScan: Scan.optional().describe('Scan of the source code.'),
    binaryScan: Scan.optional().describe('Scan of the binary. Providers only.'),
    scan: ScanSummary.optional().describe('The last scan of the archive that did not fail.'),
    dependencyScan: ScanSummary.optional().describe(
      'The last scan of go.mod and go.sum that did not fail. Providers only.',
    ),
    readmeConfigMapRef: ReadmeConfigMapRef.optional().describe(
      'ConfigMap with the README. Modules only.',
    ),
    interfaceConfigMapRef: InterfaceConfigMapRef.optional().describe(
      'ConfigMap with the inputs and outputs of the root module. The latest version of a module only.',
    ),
    readmeDocs: optionalText(
      'SHA-256 of the documentation that the README and the interface were taken from. Modules only.',
    ),
  },
  specKeywords: rules.ruled(
    [...rules.refOfType, rules.platformOfProvider, rules.zipOfProvider],
    {},
  ),
  statusKeywords: openToNewFields,
})
export type Version = z.infer<typeof Version>
