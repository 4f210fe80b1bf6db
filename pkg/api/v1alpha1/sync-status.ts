import * as z from 'zod'
import { conditions } from './condition.ts'

/** What the controller writes into the status of every kind that it reconciles. */
export const Reconciled = {
  conditions: conditions('What the controller found: Ready, Reconciling, Stalled and others.'),
  observedGeneration: z.int().optional().describe('Generation of the spec that was looked at.'),
  lastHandledSync: z
    .string()
    .optional()
    .describe(
      'Value of the annotation sync-requested-at that was handled last; the digest of a value of more than 128 characters.',
    ),
  lastForcedSync: z
    .string()
    .optional()
    .describe('When a forceSync was handled last, RFC 3339; one is handled every 10 minutes.'),
}

/** In the spec of every kind that the controller reconciles. */
export const ForceSync = {
  forceSync: z.boolean().optional().describe('Synchronise again although nothing changed.'),
}

/** In the spec of every kind that the controller reconciles. */
export const Suspend = {
  suspend: z
    .boolean()
    .optional()
    .describe(
      'Leave this object as it is: nothing is fetched, changed or removed but by deletion.',
    ),
}

/** So that a status stays readable, and small. */
const maxItems = 200

const SkippedItem = z.object({
  version: z.string().describe('Version that was wanted.'),
  platform: z.string().optional().describe('Platform that was wanted, such as linux/amd64.'),
  message: z.string().describe('Why there is no Version object for it.'),
})

/** A version that a parent's spec lists: what it is, and below, whether it is there. */
export const ListedVersion = {
  version: z.string().describe('Semantic version; a leading v is tolerated.'),
  name: z.string().optional().describe('Name of the Version object.'),
}
export const SyncedVersion = {
  synced: z.boolean().optional().describe('Whether the version is synchronised.'),
}

/** What parents report of their newest version. */
export const LatestVersion = {
  latestVersion: z.string().optional().describe('The newest version.'),
  fileName: z.string().optional().describe('Name of the archive of the newest version.'),
}

/** What parents report of their children. */
export const ParentCounts = {
  versionCounts: z
    .object({
      wanted: z.int().min(0).describe('How many there should be.'),
      synced: z.int().min(0).describe('How many are as they should be.'),
      failed: z.int().min(0).describe('How many failed.'),
      listed: z.int().min(0).describe('How many versions the list of this status names.'),
    })
    .optional()
    .describe('How many Version objects there are.'),
  retained: z
    .int()
    .min(0)
    .optional()
    .describe('How many Versions are kept although spec.versions does not name them.'),
  skipped: z
    .array(SkippedItem)
    .optional()
    .meta({ description: 'What was wanted and cannot be had, at most 200.', maxItems }),
}

const DepotItem = z.object({
  kind: z.enum(['Module', 'Provider']).describe('Kind of the resource.'),
  name: z.string().describe('Name of the config, and of the resource.'),
  found: z.int().min(0).optional().describe('How many versions upstream has.'),
  matched: z.int().min(0).optional().describe('How many of them are kept.'),
  message: z.string().optional().describe('What went wrong. Absent: nothing.'),
})

/** What a Depot reports of its configs. */
export const DepotReport = {
  items: z
    .array(DepotItem)
    .optional()
    .meta({ description: 'How each config fared, at most 200; failures first.', maxItems }),
  retained: z
    .int()
    .min(0)
    .optional()
    .describe('How many versions are kept although upstream has them no more.'),
  skipped: z
    .int()
    .min(0)
    .optional()
    .describe('How many names of upstream are no semantic version.'),
  lastPoll: z.string().optional().describe('When every config was looked at last, RFC 3339.'),
  polledSpec: z.string().optional().describe('Digest of the configs at the last poll.'),
}
