import * as z from 'zod'
import { heldWhys } from '../held/held.ts'
import {
  list,
  optionalCount,
  optionalFlag,
  optionalList,
  optionalOneOf,
  optionalText,
  someText,
  text,
} from '../schema/schema.ts'
import * as rules from './rules.ts'

/** One version that may come in, although it is too young. */
export const PolicyException = z.object({
  address: text(
    'Host and path of its source, such as github.com/acme/terraform-aws-vpc or registry.opentofu.org/hashicorp/aws.',
    rules.patterned(rules.upstreamAddress, 1024),
  ),
  version: someText('Exact version.', 256),
  reason: someText('Why it may come in.', 1024),
  by: someText('Who decided it.', 256),
})
export type PolicyException = z.infer<typeof PolicyException>

/** Versions that may come in, or may not. */
export const PolicyRule = z.object({
  address: text(
    'Host and path of sources. * stands for anything within a part of the path, ** for anything: github.com/acme/**.',
    rules.patterned(rules.upstreamAddress, 1024),
  ),
  versions: optionalText('Version constraint. Default: every version.', { maxLength: 1024 }),
  reason: someText('Reason, which callers can read.', 1024),
  until: optionalText(
    'Last day of the rule, or its end as RFC 3339. Then it has no effect.',
    rules.patterned(rules.endDate, 40),
  ),
})
export type PolicyRule = z.infer<typeof PolicyRule>

const ruleList = z.array(PolicyRule).optional()

/** Conditions for versions of upstreams to come in. */
export const UpstreamPolicy = z.object({
  minimumAge: optionalText(
    'How old a version has to be before it is stored: days, hours or minutes, such as 7d or 36h.',
    rules.patterned(rules.age, 6),
  ),
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
  exceptions: optionalList(
    PolicyException,
    'Versions that may come in at once, despite minimumAge and deny.',
    { maxItems: 200 },
  ),
  rule: z
    .object({
      expression: someText(
        'Expression over upstream: host, namespace, name of a module, type of a provider, system, version, publishedAt, ageHours, signedBy, licence. Example: upstream.host == "github.com".',
        16_384,
      ),
      reason: someText('Reason, which callers can read.', 1024),
    })
    .optional()
    .describe(
      'Versions for which the expression is not true do not come in. Stored versions stay.',
    ),
  requireSignature: optionalFlag(
    'Whether releases of providers must be signed, whatever their configs say.',
  ),
  trustedKeys: optionalList(
    z.string().meta(rules.patterned(rules.trustedKey, 65_536)),
    'Fingerprints or armored public keys that may sign releases of providers. A config may name some of them.',
    { maxItems: 20 },
  ),
})
export type UpstreamPolicy = z.infer<typeof UpstreamPolicy>

/** The memory that a Module or Provider has of the lists of its upstream. */
export const ListingMemory = z.object({
  address: text('Host and path of the source, as exceptions name it.'),
  depot: optionalText('The Depot with the policy, as namespace/name.'),
  firstListedAt: optionalText('Time of the first list, RFC 3339.'),
  seen: optionalList(
    z.object({
      since: text('Time from which their age counts, RFC 3339.'),
      versions: list(
        z.string(),
        'Versions, each with the beginning of its commit, or of a digest of its checksums, such as 1.2.0@4f1d2c3b5a69. 1.2.0@ is one whose content was never read.',
      ),
    }),
    'The versions of the last list. Absent without a minimum age.',
  ),
  heldBack: optionalList(
    z.object({
      version: text('Version that the Depot wants.'),
      since: optionalText('Time from which its age counts, or since when it is refused, RFC 3339.'),
      publishedAt: optionalText('Time of its publication, as its host says it, RFC 3339.'),
      until: optionalText('Time when it is old enough, RFC 3339. Absent if it is refused.'),
      why: optionalOneOf(
        heldWhys,
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
    'Versions that are too young to be stored, or that the policy refuses.',
  ),
  heldBackCount: optionalCount(
    'Number of versions that are held back. Present if heldBack does not list all.',
  ),
  replaced: optionalList(
    z.object({
      version: text('Version that was not stored yet.'),
      at: text('Time when the other content was seen, RFC 3339.'),
      seen: text('Beginning of the commit or digest that it had before.'),
      offered: text('Beginning of the commit or digest that it has since then.'),
    }),
    'Evidence of versions whose content upstream replaced while they waited, the last 100.',
  ),
})
export type ListingMemory = z.infer<typeof ListingMemory>
