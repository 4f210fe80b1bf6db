import type { ObjectKey, Resource } from '../../api/v1alpha1/v1alpha1.ts'
import type { Check, Finding } from './finding.ts'

/** An object of the manifests, and where it stands. */
export interface Placed<R extends Resource = Resource> {
  readonly file: string
  readonly line: number | undefined
  readonly key: ObjectKey
  readonly resource: R
}

/** A finding about an object. */
export function about(
  { file, line, key }: Omit<Placed, 'resource'>,
  check: Check,
  message: string,
  more: Partial<Pick<Finding, 'level' | 'field'>> = {},
): Finding {
  return { check, level: 'error', file, line, object: key, message, ...more }
}

export function isOf<K extends Resource['kind']>(
  kind: K,
): (placed: Placed) => placed is Placed<Extract<Resource, { kind: K }>> {
  return (placed): placed is Placed<Extract<Resource, { kind: K }>> => placed.resource.kind === kind
}

/** `team/network-1.0.0 in network.yaml:12`, for a message about another object. */
export function placeOf({ file, line, key }: Omit<Placed, 'resource'>): string {
  return `${key.namespace}/${key.name} in ${file}${line === undefined ? '' : `:${line}`}`
}

/** Objects by a text. */
export function groupBy<T>(items: readonly T[], textOf: (item: T) => string | undefined) {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const text = textOf(item)
    if (text === undefined) continue
    const group = groups.get(text)
    if (group === undefined) groups.set(text, [item])
    else group.push(item)
  }
  return groups
}
