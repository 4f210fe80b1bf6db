import * as z from 'zod'
import * as rules from './rules.ts'

/** Conditions for versions of upstreams to come in. */
export const UpstreamPolicy = z.object({
  minimumAge: z
    .string()
    .optional()
    .meta({
      description:
        'How old a version has to be before it is stored: days, hours or minutes, such as 7d or 36h.',
      ...rules.patterned(rules.age, 6),
    }),
  trustFirstListing: z
    .boolean()
    .optional()
    .describe(
      'Whether the versions of the first list count as old, except the newest of each minor version and the newest three. Default true.',
    ),
})
export type UpstreamPolicy = z.infer<typeof UpstreamPolicy>

/** The memory that a Module or Provider has of the lists of its upstream. */
export const ListingMemory = z.object({
  firstListedAt: z.string().describe('Time of the first list, RFC 3339.'),
  seen: z
    .array(
      z.object({
        since: z.string().describe('Time from which their age counts, RFC 3339.'),
        versions: z
          .array(z.string())
          .describe('Versions, each with the beginning of its commit, such as 1.2.0@4f1d2c3b5a69.'),
      }),
    )
    .describe('The versions of the last list.'),
  heldBack: z
    .array(
      z.object({
        version: z.string().describe('Version that the Depot wants.'),
        until: z.string().describe('Time when it is old enough, RFC 3339.'),
      }),
    )
    .optional()
    .describe('Versions that are too young to be stored.'),
})
export type ListingMemory = z.infer<typeof ListingMemory>
