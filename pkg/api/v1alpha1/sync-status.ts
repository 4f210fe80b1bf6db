import * as z from 'zod'
import {
  count,
  oneOf,
  optionalCount,
  optionalFlag,
  optionalList,
  optionalText,
  text,
} from '../schema/schema.ts'
import { conditions } from './condition.ts'
import { SyncState } from './metadata.ts'
import { ListingMemory } from './upstream-policy.ts'

/** The status of every kind that the controller reconciles. */
export const Reconciled = {
  conditions: conditions(
    'Conditions that the controller sets: Ready, Reconciling, Stalled and others.',
  ),
  observedGeneration: z.int().optional().describe('Generation of the spec that was processed.'),
  lastHandledSync: optionalText(
    'Last processed value of the annotation sync-requested-at, or its digest if it has more than 128 characters.',
  ),
  lastForcedSync: optionalText(
    'Time of the last forceSync, RFC 3339. At most one runs every 10 minutes.',
  ),
}

/** In the spec of every kind that the controller reconciles. */
export const Steering = {
  forceSync: optionalFlag('Sync again although nothing changed.'),
  suspend: optionalFlag(
    'Do not touch this object: nothing is fetched, changed or removed, except by deletion.',
  ),
}

/** A limit, so that a status stays small and readable. */
const maxItems = 200

const SkippedItem = z.object({
  version: text('Requested version.'),
  platform: optionalText('Requested platform, such as linux/amd64.'),
  message: text('Reason why there is no Version object for it.'),
})

/** A version in a parent's spec; below, whether it is stored. */
export const ListedVersion = {
  version: text('Semantic version. A leading v is dropped.'),
  name: optionalText('Name of the Version object.'),
}
export const SyncedVersion = {
  synced: optionalFlag('Whether the version is stored.'),
}

/** The status of Modules and Providers about their versions. */
export const ParentStatusFields = {
  ...SyncState,
  latestVersion: optionalText('The newest version.'),
  fileName: optionalText('Name of the archive of the newest version.'),
  versionCounts: z
    .object({
      wanted: count('Number of desired versions.'),
      synced: count('Number of stored versions.'),
      failed: count('Number of failed versions.'),
      listed: count('Number of versions in the list of this status.'),
    })
    .optional()
    .describe('Counts of Version objects.'),
  retained: optionalCount(
    'Number of Versions that are kept although they are not in spec.versions.',
  ),
  skipped: optionalList(SkippedItem, 'Requested versions that cannot be stored, at most 200.', {
    maxItems,
  }),
  skippedCount: optionalCount(
    'Number of versions that cannot be stored. Present if skipped does not list all.',
  ),
  listing: ListingMemory.optional().describe(
    'What the policy of the Depot remembers of the lists of upstream.',
  ),
  ...Reconciled,
}

const DepotItem = z.object({
  kind: oneOf(['Module', 'Provider'], 'Kind of the resource.'),
  name: text('Name of the config, and of the resource.'),
  found: optionalCount('Number of versions upstream.'),
  matched: optionalCount('Number of those that are kept.'),
  message: optionalText('Error message. Absent if there was no error.'),
  suspicious: z
    .object({
      token: text('Names the list. The annotation accept-listing accepts it.'),
      since: text('Time when this list was first seen, RFC 3339.'),
      polls: z.int().min(1).describe('Number of polls that found this list.'),
    })
    .optional()
    .describe('List of upstream that lost most versions, and is not used.'),
})

/** The report of a Depot about its configs. */
export const DepotReport = {
  items: optionalList(DepotItem, 'Result of each config, at most 200, failures first.', {
    maxItems,
  }),
  itemCount: optionalCount('Number of configs. Present if items does not list all.'),
  retained: optionalCount('Number of versions that are kept although upstream no longer has them.'),
  skipped: optionalCount('Number of upstream names that are not semantic versions.'),
  unknownExceptions: optionalList(
    z.object({
      address: text('Host and path that the exception names.'),
      version: text('Version that the exception names.'),
    }),
    'Exceptions of the policy that name nothing that upstream had in its last list.',
    { maxItems: 400 },
  ),
  lastPoll: optionalText('Time when every config was last checked, RFC 3339.'),
  polledSpec: optionalText('Digest of the configs at the last poll.'),
}
