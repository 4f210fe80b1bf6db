import {
  type FieldIssue,
  formatPath,
  mistakesIn,
  parseResource,
  type UpstreamPolicy,
  unknownFieldsIn,
} from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { type FollowedFile, followFile } from '../../base/run/run.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import { parseYaml } from '../../records/folder/folder.ts'
import { expressionRule } from './expression.ts'
import { ruleOf } from './rules.ts'

/** The policy of the whole installation, which Depots can only tighten. */
export type InstallationPolicy = FollowedFile<UpstreamPolicy>

/**
 * Reads the file of `--upstream-policy`, and follows its changes. A file that cannot be read keeps the policy that it had.
 *
 * @throws OptionsError if the file cannot be read at the start: without it, everything could come in
 */
export async function openPolicyFile({
  path,
  ...looking
}: {
  /** Undefined: there is none. */
  readonly path: string | undefined
  readonly log: Logger
  readonly metrics: Metrics
  /** How often to look for a change. */
  readonly lookMs?: number
  /** Whether to follow changes. */
  readonly follow?: boolean
}): Promise<InstallationPolicy | undefined> {
  if (path === undefined) return undefined
  const gauge = 'upstream_policy_file_valid'
  return followFile({ flag: 'upstream-policy', gauge, path, parse: policyIn, ...looking })
}

/**
 * Reads a policy as `spec.policy` of a Depot has it.
 *
 * @param file for messages
 * @throws Error with file and line
 */
export function policyIn(text: string, file: string): UpstreamPolicy {
  const document = parseYaml(text)
  const problem = (line: number | undefined, message: string) =>
    new Error(`${file}:${(line ?? 0) + 1}: ${message}`)
  if (!document.ok) throw problem(document.line, document.message)
  // A file that is just being written is empty for a moment.
  if (document.value === null) throw problem(0, 'is empty: write {} if everything may come in')
  const raw = { metadata: { name: 'policy' }, spec: { policy: document.value } }
  const parsed = parseResource('Depot', raw)
  const issues = parsed.ok
    ? [...unknownFieldsIn('Depot', raw), ...mistakesIn(parsed.resource)]
    : parsed.issues
  const [issue] = issues
  if (issue !== undefined) {
    const path = issue.path.slice(2)
    const field = path.length > 0 ? `${formatPath(path)} ` : ''
    throw problem(document.lineOf(path), field + issue.message)
  }
  const policy = (parsed.ok && parsed.resource.spec.policy) || {}
  for (const { path, message } of brokenRules(policy)) throw problem(document.lineOf(path), message)
  return policy
}

/** The rules of a policy that cannot be read, although its fields are valid. */
export function brokenRules(
  policy: UpstreamPolicy,
): { readonly path: FieldIssue['path']; readonly message: string }[] {
  const { rule: expression } = policy
  const readings = [
    ...(['deny', 'allow'] as const).flatMap((list) =>
      (policy[list] ?? []).map((rule, index) => [[list, index], () => ruleOf(rule, list)] as const),
    ),
    [['rule'], () => expression && expressionRule(expression)] as const,
  ]
  return readings.flatMap(([path, read]) => {
    try {
      read()
      return []
    } catch (error) {
      return [{ path: [...path], message: messageOf(error) }]
    }
  })
}
