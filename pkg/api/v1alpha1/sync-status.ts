import * as z from 'zod'
import { optionalFlag, optionalText } from '../schema/schema.ts'
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
  version: z.string().describe('Requested version.'),
  platform: optionalText('Requested platform, such as linux/amd64.'),
  message: z.string().describe('Reason why there is no Version object for it.'),
})

/** A version in a parent's spec; below, whether it is stored. */
export const ListedVersion = {
  version: z.string().describe('Semantic version. A leading v is dropped.'),
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
      wanted: z.int().min(0).describe('Number of desired versions.'),
      synced: z.int().min(0).describe('Number of stored versions.'),
      failed: z.int().min(0).describe('Number of failed versions.'),
      listed: z.int().min(0).describe('Number of versions in the list of this status.'),
    })
    .optional()
    .describe('Counts of Version objects.'),
  retained: z
    .int()
    .min(0)
    .optional()
    .describe('Number of Versions that are kept although they are not in spec.versions.'),
  skipped: z
    .array(SkippedItem)
    .optional()
    .meta({ description: 'Requested versions that cannot be stored, at most 200.', maxItems }),
  skippedCount: z
    .int()
    .min(0)
    .optional()
    .describe('Number of versions that cannot be stored. Present if skipped does not list all.'),
  listing: ListingMemory.optional().describe(
    'What the policy of the Depot remembers of the lists of upstream.',
  ),
  ...Reconciled,
}

const DepotItem = z.object({
  kind: z.enum(['Module', 'Provider']).describe('Kind of the resource.'),
  name: z.string().describe('Name of the config, and of the resource.'),
  found: z.int().min(0).optional().describe('Number of versions upstream.'),
  matched: z.int().min(0).optional().describe('Number of those that are kept.'),
  message: optionalText('Error message. Absent if there was no error.'),
  suspicious: z
    .object({
      token: z.string().describe('Names the list. The annotation accept-listing accepts it.'),
      since: z.string().describe('Time when this list was first seen, RFC 3339.'),
      polls: z.int().min(1).describe('Number of polls that found this list.'),
    })
    .optional()
    .describe('List of upstream that lost most versions, and is not used.'),
})

/** The report of a Depot about its configs. */
export const DepotReport = {
  items: z
    .array(DepotItem)
    .optional()
    .meta({ description: 'Result of each config, at most 200, failures first.', maxItems }),
  itemCount: z
    .int()
    .min(0)
    .optional()
    .describe('Number of configs. Present if items does not list all.'),
  retained: z
    .int()
    .min(0)
    .optional()
    .describe('Number of versions that are kept although upstream no longer has them.'),
  skipped: z
    .int()
    .min(0)
    .optional()
    .describe('Number of upstream names that are not semantic versions.'),
  unknownExceptions: z
    .array(
      z.object({
        address: z.string().describe('Host and path that the exception names.'),
        version: z.string().describe('Version that the exception names.'),
      }),
    )
    .optional()
    .meta({
      description: 'Exceptions of the policy that name nothing that upstream had in its last list.',
      maxItems: 400,
    }),
  lastPoll: optionalText('Time when every config was last checked, RFC 3339.'),
  polledSpec: optionalText('Digest of the configs at the last poll.'),
}
