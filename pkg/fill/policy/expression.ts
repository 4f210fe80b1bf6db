/** The rule of a policy that is an expression over a version of an upstream. */

import type { ParentKind, UpstreamPolicy } from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { compileRule, ExpressionError, Run, recordInput, recordOf } from '../../expr/expr.ts'

const hourMs = 3_600_000
/** A tenant's rule is evaluated for every version of a list: each evaluation takes a few milliseconds at most. */
const maxSteps = 10_000
const fields = [
  'host',
  'namespace',
  'name',
  'type',
  'system',
  'version',
  'publishedAt',
  'ageHours',
  'signedBy',
  'licence',
] as const
const input = recordInput('upstream', fields)

type Upstream = Readonly<Record<(typeof fields)[number], string | number | undefined>>

/** Facts that a rule can read in addition to address and version. */
export interface RuleFacts {
  readonly kind: ParentKind
  readonly system?: string | undefined
  /** Whether a module comes from a registry, whose addresses end with the system. */
  readonly isRegistry?: boolean
  /** The moment from which its age counts; undefined if nobody knows it. */
  readonly sinceMs?: number | undefined
  /** Fingerprint of the key that signed a release of a provider; empty if it has no signature, undefined if nobody looked yet. */
  readonly signedBy?: string | undefined
  /** SPDX id, as the host of the source names it; undefined if it names none. */
  readonly licence?: string | undefined
}

/** A version of an upstream, and what a rule can read about it. */
export interface RuledVersion extends RuleFacts {
  /** Host and path of its source. */
  readonly address: string
  readonly version: string
}

export interface ExpressionRule {
  readonly expression: string
  readonly reason: string
  readonly needsAge: boolean
  readonly needsSigner: boolean
  readonly needsLicence: boolean
  /** Says why the rule refuses a version; undefined if it does not. */
  readonly refusal: (upstream: Upstream) => string | undefined
}

/** @throws Error if the expression cannot be read */
export function expressionRule(rule: NonNullable<UpstreamPolicy['rule']>): ExpressionRule {
  const { expression, reason } = rule
  const holds = compileRule(expression, input)
  return {
    expression,
    reason,
    needsAge: /publishedAt|ageHours/.test(expression),
    needsSigner: /signedBy/.test(expression),
    needsLicence: /licence/.test(expression),
    refusal(upstream) {
      try {
        return holds(new Run(recordOf(upstream), maxSteps))
          ? undefined
          : `refused by the rule: ${reason}`
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error
        // The other lines show the source, which callers have no right to read.
        const [what = ''] = messageOf(error).split('\n')
        return `refused, because the rule cannot be evaluated: ${what}`
      }
    },
  }
}

/** The fields of a version. Parts of addresses are in lower case, because hosts do not distinguish them. */
export function upstreamOf(
  { address, version, kind, system, isRegistry, sinceMs, signedBy, licence }: RuledVersion,
  nowMs: number,
): Upstream {
  const [host = '', ...path] = address.toLowerCase().split('/')
  if (kind === 'Module' && isRegistry === true) path.pop()
  const last = path.at(-1)
  return {
    host,
    namespace: path.slice(0, -1).join('/'),
    name: kind === 'Module' ? last : undefined,
    type: kind === 'Provider' ? last : undefined,
    system,
    version: version.replace(/^v/, ''),
    publishedAt: sinceMs === undefined ? undefined : new Date(sinceMs).toISOString(),
    ageHours: sinceMs === undefined ? undefined : (nowMs - sinceMs) / hourMs,
    // Modules have no signatures.
    signedBy: kind === 'Module' ? '' : signedBy,
    licence,
  }
}
