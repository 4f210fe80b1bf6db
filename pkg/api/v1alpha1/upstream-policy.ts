import * as z from 'zod'
import * as rules from './rules.ts'

/** One version that may come in, although it is too young. */
export const PolicyException = z.object({
  address: z.string().meta({
    description:
      'Host and path of its source, such as github.com/acme/terraform-aws-vpc or registry.opentofu.org/hashicorp/aws.',
    ...rules.patterned(rules.upstreamAddress, 1024),
  }),
  version: z.string().min(1).meta({ description: 'Exact version.', maxLength: 256 }),
  reason: z.string().min(1).meta({ description: 'Why it may come in.', maxLength: 1024 }),
  by: z.string().min(1).meta({ description: 'Who decided it.', maxLength: 256 }),
})
export type PolicyException = z.infer<typeof PolicyException>

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
  exceptions: z
    .array(PolicyException)
    .optional()
    .meta({ description: 'Versions that may come in at once.', maxItems: 200 }),
})
export type UpstreamPolicy = z.infer<typeof UpstreamPolicy>

/** The memory that a Module or Provider has of the lists of its upstream. */
export const ListingMemory = z.object({
  address: z.string().describe('Host and path of the source, as exceptions name it.'),
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
