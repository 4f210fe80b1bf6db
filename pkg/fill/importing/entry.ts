import semver from 'semver'
import * as z from 'zod'
import { normalizeVersion } from '../../api/v1alpha1/v1alpha1.ts'
import type { ImportItem } from './item.ts'

/** A version as a Module or Provider names it, and as its Version has it. */
export const Entry = z.object({
  version: z.string(),
  operatingSystem: z.string().optional(),
  architecture: z.string().optional(),
})
export type Entry = z.infer<typeof Entry>

export const entryOf = ({ version, platform }: ImportItem): Entry => ({
  version,
  ...(platform && { operatingSystem: platform.os, architecture: platform.arch }),
})

/** Equal where two say the same, also one with a leading `v`. */
export const keyOf = ({ version, operatingSystem, architecture }: Entry): string =>
  [normalizeVersion(version), operatingSystem, architecture].join(' ')

/** Whether one comes after another; what is no version comes before. */
export function isAfter(one: Entry, other: Entry): boolean {
  const [a, b] = [one, other].map(({ version }) => semver.parse(normalizeVersion(version)))
  if (!a || !b) return false
  const order = a.compare(b) || a.compareBuild(b)
  return order === 0 ? keyOf(one) > keyOf(other) : order > 0
}
