import * as z from 'zod'

/** The archive that is served, as the controller stored it. Written in one update with `checksum`. */
export const Artifact = z.object({
  fileName: z.string().optional().describe('Name of the archive that is served.'),
  sha256: z.string().optional().describe('SHA-256 of the archive, in hexadecimal.'),
  sizeBytes: z.int().min(0).optional().describe('Size of the archive, in bytes.'),
  revision: z
    .string()
    .optional()
    .describe('What upstream had: v1.2.3@sha1:COMMIT, or sha256:SHASUM of a provider.'),
  contentDigest: z
    .string()
    .optional()
    .describe('Digest of what is in the archive, whatever it is packed with.'),
  hashes: z
    .array(z.string())
    .optional()
    .describe('Hashes for lock files: h1 of this archive, zh of it and of the other platforms.'),
  storedAt: z.string().optional().describe('When the archive was stored, RFC 3339.'),
  verifiedAt: z.string().optional().describe('When it was last found whole in storage, RFC 3339.'),
  rehashedAt: z.string().optional().describe('When all of it was last read and hashed, RFC 3339.'),
  sourceKey: z.string().optional().describe('Digest of what the archive was made from.'),
})
export type Artifact = z.infer<typeof Artifact>

/** The documents of a provider's upstream, stored beside its archives. */
export const ReleaseDocuments = z.object({
  fileName: z.string().optional().describe('Name of the archive upstream.'),
  shasums: z.string().optional().describe('Object with SHA256SUMS.'),
  signature: z.string().optional().describe('Object with the binary signature of SHA256SUMS.'),
  keys: z.string().optional().describe('Object with the public keys that upstream offers.'),
  keyFingerprint: z.string().optional().describe('Fingerprint of the key that signed.'),
})
export type ReleaseDocuments = z.infer<typeof ReleaseDocuments>

/** What upstream has instead of what is served. */
export const Drift = z.object({
  revision: z.string().optional().describe('What upstream has now.'),
  contentDigest: z.string().optional().describe('Digest of its content, where it was fetched.'),
  since: z.string().optional().describe('When it was first seen, RFC 3339.'),
})

/** What failed for good, so that it is not fetched again before something changed. */
export const Attempt = z.object({
  sourceKey: z.string().describe('Digest of what the archive is made from.'),
  revision: z.string().describe('What upstream had.'),
})

/** An archive that a newer one replaced, until it is removed. */
export const Replaced = z.object({
  fileName: z.string().describe('Name of the archive.'),
  removeAfter: z.string().describe('When it is removed from storage, RFC 3339.'),
})
