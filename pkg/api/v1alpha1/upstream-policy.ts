import * as z from 'zod'
import { heldWhys } from '../held/held.ts'
import { optionalFlag, optionalText } from '../schema/schema.ts'
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

/** Versions that may come in, or may not. */
export const PolicyRule = z.object({
  address: z.string().meta({
    description:
      'Host and path of sources. * stands for anything within a part of the path, ** for anything: github.com/acme/**.',
    ...rules.patterned(rules.upstreamAddress, 1024),
  }),
  versions: z
    .string()
    .optional()
    .meta({ description: 'Version constraint. Default: every version.', maxLength: 1024 }),
  reason: z
    .string()
    .min(1)
    .meta({ description: 'Reason, which callers can read.', maxLength: 1024 }),
  until: z
    .string()
    .optional()
    .meta({
      description: 'Last day of the rule, or its end as RFC 3339. Then it has no effect.',
      ...rules.patterned(rules.endDate, 40),
    }),
})
export type PolicyRule = z.infer<typeof PolicyRule>

const ruleList = z.array(PolicyRule).optional()

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
  trustFirstListing: optionalFlag(
    'Whether the versions of the first list count as old, except the newest of each minor version and the newest three. Default true.',
  ),
  allow: ruleList.meta({
    description: 'Only versions that match a rule come in. Stored versions stay.',
    maxItems: 200,
  }),
  deny: ruleList.meta({
    description: 'Versions that do not come in. Those that are stored are quarantined.',
    maxItems: 200,
  }),
  exceptions: z.array(PolicyException).optional().meta({
    description: 'Versions that may come in at once, despite minimumAge and deny.',
    maxItems: 200,
  }),
  rule: z
    .object({
      expression: z.string().min(1).meta({
        description:
          'Expression over upstream: host, namespace, name of a module, type of a provider, system, version, publishedAt, ageHours, signedBy, licence. Example: upstream.host == "github.com".',
        maxLength: 16_384,
      }),
      reason: z
        .string()
        .min(1)
        .meta({ description: 'Reason, which callers can read.', maxLength: 1024 }),
    })
    .optional()
    .describe(
      'Versions for which the expression is not true do not come in. Stored versions stay.',
    ),
  requireSignature: optionalFlag(
    'Whether releases of providers must be signed, whatever their configs say.',
  ),
  trustedKeys: z
    .array(z.string().meta(rules.patterned(rules.trustedKey, 65_536)))
    .optional()
    .meta({
      description:
        'Fingerprints or armored public keys that may sign releases of providers. A config may name some of them.',
      maxItems: 20,
    }),
})
export type UpstreamPolicy = z.infer<typeof UpstreamPolicy>

/** The memory that a Module or Provider has of the lists of its upstream. */
export const ListingMemory = z.object({
  address: z.string().describe('Host and path of the source, as exceptions name it.'),
  depot: optionalText('The Depot with the policy, as namespace/name.'),
  firstListedAt: optionalText('Time of the first list, RFC 3339.'),
  seen: z
    .array(
      z.object({
        since: z.string().describe('Time from which their age counts, RFC 3339.'),
        versions: z
          .array(z.string())
          .describe(
            'Versions, each with the beginning of its commit, or of a digest of its checksums, such as 1.2.0@4f1d2c3b5a69. 1.2.0@ is one whose content was never read.',
          ),
      }),
    )
    .optional()
    .describe('The versions of the last list. Absent without a minimum age.'),
  heldBack: z
    .array(
      z.object({
        version: z.string().describe('Version that the Depot wants.'),
        since: optionalText(
          'Time from which its age counts, or since when it is refused, RFC 3339.',
        ),
        publishedAt: optionalText('Time of its publication, as its host says it, RFC 3339.'),
        until: optionalText('Time when it is old enough, RFC 3339. Absent if it is refused.'),
        why: z
          .enum(heldWhys)
          .optional()
          .describe(
            'TooYoung: it comes in by itself. Denied, Unsigned, Breaking, NotAllowed, Refused: a rule of deny, requireSignature, versionPolicy of its module, the lack of a rule of allow, the expression. Older releases did not write it.',
          ),
        message: optionalText('Why it is refused, or why its age began again.'),
        signedBy: optionalText(
          'Fingerprint of the key of its release, empty without a signature. Present if the policy refuses it for that.',
        ),
        by: z
          .literal('Installation')
          .optional()
          .describe(
            'Present if the policy of the whole installation holds it. Exceptions of a Depot do not apply to that.',
          ),
      }),
    )
    .optional()
    .describe('Versions that are too young to be stored, or that the policy refuses.'),
  heldBackCount: z
    .int()
    .min(0)
    .optional()
    .describe('Number of versions that are held back. Present if heldBack does not list all.'),
  replaced: z
    .array(
      z.object({
        version: z.string().describe('Version that was not stored yet.'),
        at: z.string().describe('Time when the other content was seen, RFC 3339.'),
        seen: z.string().describe('Beginning of the commit or digest that it had before.'),
        offered: z.string().describe('Beginning of the commit or digest that it has since then.'),
      }),
    )
    .optional()
    .describe(
      'Evidence of versions whose content upstream replaced while they waited, the last 100.',
    ),
})
export type ListingMemory = z.infer<typeof ListingMemory>
