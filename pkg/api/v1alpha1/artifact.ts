import * as z from 'zod'
import { count, optionalCount, optionalText, optionalTexts, text } from '../schema/schema.ts'
import { StorageConfig } from './storage-config.ts'

/** The place of an archive, which stays when the spec names another storage. */
const StoredIn = {
  storageConfig: StorageConfig.optional().describe('Storage that the archive is in.'),
  configName: optionalText('Name of the module or provider under which the archive is stored.'),
}

/** The documentation of a module or provider, which is stored next to its archive: see `docsFileName`. */
export const ArchiveDocs = z.object({
  sha256: text('SHA-256 of the stored documentation, in hexadecimal.'),
  sizeBytes: count('Its size in storage, in bytes.'),
})
export type ArchiveDocs = z.infer<typeof ArchiveDocs>

/** The modules of Go that the source of a provider names, which is stored next to its archive: see `sourceFileOf`. */
export const ArchiveSource = z.object({
  repository: text('Source repository that was asked.'),
  revision: optionalText(
    'Tag and commit of this version in it: v1.2.3@sha1:COMMIT. Absent while they are not known.',
  ),
  sha256: optionalText('SHA-256 of the stored archive with go.mod and go.sum, in hexadecimal.'),
  sizeBytes: optionalCount('Its size in storage, in bytes.'),
  fileName: optionalText('Its name in storage. Absent: its name has the digest of the archive.'),
  problem: optionalText('Why there is no such archive, or why it may be an earlier one.'),
})
export type ArchiveSource = z.infer<typeof ArchiveSource>

/** The archive that is served, as stored by the controller. Written in one update with `checksum`. */
export const Artifact = z.object({
  fileName: optionalText('Name of the archive that is served.'),
  sha256: optionalText('SHA-256 of the archive, in hexadecimal.'),
  sizeBytes: optionalCount('Size of the archive, in bytes.'),
  revision: optionalText('Upstream revision: v1.2.3@sha1:COMMIT, or sha256:SHASUM for a provider.'),
  contentDigest: optionalText(
    'Digest of the files in the archive, independent of the archive format.',
  ),
  hashes: optionalTexts(
    'Hashes for lock files: h1 of this archive, zh of this and the other platforms.',
  ),
  storedAt: optionalText('Time when the archive was stored, RFC 3339.'),
  verifiedAt: optionalText('Time of the last successful check in storage, RFC 3339.'),
  rehashedAt: optionalText('Time when the whole archive was last read and hashed, RFC 3339.'),
  sourceKey: optionalText('Digest of the source that the archive was made from.'),
  address: optionalText('Host and path of that source, as policies name it.'),
  docs: ArchiveDocs.optional().describe(
    'Documentation of the module or provider, stored next to the archive.',
  ),
  source: ArchiveSource.optional().describe(
    'go.mod and go.sum of this version, for scans. Providers only.',
  ),
  ...StoredIn,
})
export type Artifact = z.infer<typeof Artifact>

/** The documents of a provider's upstream, stored next to its archives. */
export const ReleaseDocuments = z.object({
  fileName: optionalText('Name of the archive upstream.'),
  shasums: optionalText('Object in storage with SHA256SUMS.'),
  signature: optionalText('Object in storage with the binary signature of SHA256SUMS.'),
  keys: optionalText('Object in storage with the public keys that upstream offers.'),
  keyFingerprint: optionalText('Fingerprint of the signing key.'),
})
export type ReleaseDocuments = z.infer<typeof ReleaseDocuments>

/** Upstream content that differs from the served archive. */
export const Drift = z.object({
  revision: optionalText('Current upstream revision.'),
  contentDigest: optionalText('Digest of its content, if it was fetched.'),
  since: optionalText('Time when it was first seen, RFC 3339.'),
})

/** Evidence that upstream had other bytes under this version, which were refused. */
export const Substitution = z.object({
  at: text('Time when it was first seen, RFC 3339.'),
  served: text('Digest of the archive that is served.'),
  offered: text("Digest of upstream's archive."),
  from: text('Where upstream had it, without credentials.'),
})

/** A refused archive, which is fetched again after a growing wait. */
export const Attempt = z.object({
  sourceKey: text('Digest of the source of the archive, and of the options that decide on it.'),
  revision: text('Upstream revision.'),
  at: optionalText('Time of the last attempt, RFC 3339.'),
  failures: z.int().min(1).optional().describe('How many attempts in a row failed.'),
})

/** An archive that a newer one replaced, until it is removed. */
export const Replaced = z.object({
  fileName: text('Name of the archive.'),
  removeAfter: text('Time of its removal from storage, RFC 3339.'),
  ...StoredIn,
})
