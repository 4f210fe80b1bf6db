import type { HeldBackItem } from '../../api/browse/browse.ts'
import type { HeldBackVersion, ShownDepot } from '../catalog/catalog.ts'

/** Placeholders that a person replaces. */
const placeholders = { reason: 'WHY', by: 'WHO' }

/** Exceptions take precedence over an age and `deny`. */
const excepted: ReadonlySet<string> = new Set(['TooYoung', 'Denied'])

/**
 * Formats the lines that except a version from the policy of its Depot; undefined if an exception of the Depot does not help.
 *
 * @param depot undefined if there is none, or the caller does not see it
 */
export function exceptionOf(
  { why, by, address, version }: Pick<HeldBackVersion, 'why' | 'by' | 'address' | 'version'>,
  depot: Pick<ShownDepot, 'namespace' | 'name' | 'policy'> | undefined,
): HeldBackItem['except'] {
  if (depot === undefined || by === 'Installation' || !excepted.has(why)) return undefined
  const value = { address, version: version.replace(/^v/, ''), ...placeholders }
  const lines = Object.entries(value).map(([key, text]) => `${key}: ${JSON.stringify(text)}`)
  const manifest = `spec:\n  policy:\n    exceptions:\n      - ${lines.join('\n        ')}\n`
  const { namespace, name, policy } = depot
  // A merge patch would replace the existing exceptions, and `add` would replace one that another command added before.
  const add = {
    None: { path: '/spec/policy', value: { exceptions: [value] } },
    WithoutExceptions: { path: '/spec/policy/exceptions', value: [value] },
    WithExceptions: { path: '/spec/policy/exceptions/-', value },
  }[policy]
  const isNew = policy !== 'WithExceptions'
  const test = isNew ? [{ op: 'test', path: add.path, value: null }] : []
  const patch = JSON.stringify([...test, { op: 'add', ...add }]).replaceAll("'", String.raw`'\''`)
  const command = `kubectl patch depot ${name} --namespace ${namespace} --type json --patch '${patch}'`
  return { manifest, command }
}
