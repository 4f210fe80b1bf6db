import * as z from 'zod'
import { flag, list, optionalOneOf, optionalText, optionalTexts, text } from '../schema/schema.ts'
import {
  binaryScanFindings,
  component,
  kind,
  lifecycleState,
  mark,
  moment,
  name,
  page,
  ScanCounts,
  sourceScanFindings,
  tally,
  unservedReasons,
  VersionLifecycle,
  whyNot,
} from './parts.ts'

export const NamespaceList = component('NamespaceList', {
  items: z.array(z.strictObject({ name, public: z.literal(true) })),
})

/** Reasons of a module or provider. With the last two, it is served, and something waits. */
const resourceReasons = [...unservedReasons, 'RemovalHeld', 'HeldBack'] as const

const card = {
  kind,
  namespace: name,
  name,
  address: z
    .string()
    .min(1)
    .describe(
      'What stands for it in configurations after the namespace: `{name}/{system}` of a module, the type of a provider.',
    ),
  latestVersion: optionalText('Absent if there is no version.'),
  synced: flag(
    'As its status says; without one, whether it has versions and all of them are in sync.',
  ),
  provider: optionalText('Target system; modules only.'),
  repoUrl: optionalText('Source repository.'),
  scanCounts: ScanCounts.optional().describe('Absent if the latest version was not scanned.'),
  public: flag('Whether it and its namespace carry the public label.'),
  hasUnsyncedVersions: mark('Present if a version is out of sync.'),
  totalDownloads: tally,
  lastDownloadedAt: moment.optional(),
  ...whyNot,
  reason: optionalOneOf(
    resourceReasons,
    'Why it is not served under its address, or `RemovalHeld`: versions that are no longer wanted stay served until a person decides, or `HeldBack`: a policy holds back versions of its upstream. docs/errors.md explains each.',
  ),
}

export const searchFields = [
  'name',
  'namespace',
  'system',
  'resource',
  'provider',
  'input',
  'output',
  'submodule',
  'description',
  'heading',
] as const

const matched = list(
  z.strictObject({ field: z.enum(searchFields), text: z.string() }),
  'Where the words are in the latest version; at most five texts of a field.',
)

export const BrowseResource = component('Resource', { ...card, matched: matched.optional() })
export type BrowseResource = z.infer<typeof BrowseResource>

export const ResourceList = component('ResourceList', { items: z.array(BrowseResource), ...page })

export const SearchResults = component('SearchResults', {
  items: z.array(z.strictObject({ ...card, matched })),
  totalCount: tally.describe('The modules and providers of all answers.'),
  next: optionalText('The cursor of the next answer. Absent at the end.'),
  isTruncated: mark('Present if the words match too much, so that results may be missing.'),
})
export type SearchResults = z.infer<typeof SearchResults>

const BrowsePublished = z.strictObject({
  by: optionalText(
    'Repository of the CI job, or service account as `namespace/name`; never a person.',
  ),
  ref: optionalText('Git ref of the CI job.'),
  commit: optionalText('Commit of the CI job.'),
  runUrl: optionalText('Page of the CI job, https.'),
  at: text('When, RFC 3339.'),
})
export type PublishedFrom = z.infer<typeof BrowsePublished>

export const ResourceDetail = component('ResourceDetail', {
  ...card,
  selectedVersion: optionalText('The version of the scan counts, findings, downloads and README.'),
  scanCounts: ScanCounts.optional().describe('Absent if that version was not scanned.'),
  downloadCount: tally.optional().describe('Of that version; absent if there was none.'),
  platforms: optionalTexts('`os/arch` of the archives of that version; providers only.'),
  versions: list(
    z.strictObject({
      version: z.string(),
      synced: z.boolean(),
      state: lifecycleState.optional().describe('Of its lifecycle; absent for an active version.'),
    }),
    'Newest first.',
  ),
  lifecycle: VersionLifecycle.optional().describe(
    'Of that version; absent for an active one, and where a platform of it is active.',
  ),
  sourceScanFindings: sourceScanFindings.describe('Of that version.'),
  binaryScanFindings: binaryScanFindings
    .optional()
    .describe('Of that version, by `os/arch`; providers only.'),
  readmeContent: optionalText('Markdown of that version; modules only.'),
  filesUrl: optionalText(
    'Folder of the module in its repository, at the tag of that version; relative links of the README lead from there.',
  ),
  hasDocs: mark('Present if that version has documentation; modules only.'),
  hasPages: mark('Present if that version has pages of documentation; providers only.'),
  published: BrowsePublished.optional().describe(
    'From where that version was published over HTTP.',
  ),
  upstreamDocsUrl: optionalText(
    'Its page in the public registry that it comes from; providers only.',
  ),
})
export type ResourceDetail = z.infer<typeof ResourceDetail>
