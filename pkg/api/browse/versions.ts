import * as z from 'zod'
import { flag, list, optionalText, text } from '../schema/schema.ts'
import { component, moment, page, ScanCounts, tally, VersionLifecycle, whyNot } from './parts.ts'

export const BrowseVersion = component('Version', {
  version: z.string(),
  synced: flag('Whether it is synchronised and its last synchronisation did not fail.'),
  syncStatus: optionalText('What the last synchronisation did, in words.'),
  os: optionalText('Providers only.'),
  arch: optionalText('Providers only.'),
  fileName: optionalText('Name of the archive.'),
  checksum: optionalText('SHA-256 of the archive, hexadecimal.'),
  scanCounts: ScanCounts.optional().describe('Absent if it was not scanned.'),
  downloadCount: tally.optional().describe('Absent if there was no download.'),
  lastDownloadedAt: moment.optional(),
  archiveSizeBytes: tally.optional().describe('Compressed size.'),
  lifecycle: VersionLifecycle.optional().describe('Absent for an active version.'),
  breaks: z
    .strictObject({
      from: text('The previous version, with the same major number.'),
      reasons: list(z.string(), 'The first three breaking changes.'),
    })
    .optional()
    .describe('Present if it breaks callers without a new major version. Modules only.'),
  ...whyNot,
})
export type BrowseVersion = z.infer<typeof BrowseVersion>

const platforms = z.array(z.string()).optional()

export const VersionList = component('VersionList', {
  items: z.array(BrowseVersion),
  ...page,
  versionScanCounts: z
    .record(z.string(), ScanCounts)
    .optional()
    .describe('By version, of all its archives; where pages count versions.'),
  availableOS: platforms.describe('Of all versions, whatever the filter; providers only.'),
  availableArch: platforms.describe('Of all versions, whatever the filter; providers only.'),
})
