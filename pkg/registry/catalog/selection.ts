import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import type { Bits } from './bits.ts'
import type { NameSearch } from './name-search.ts'
import { type SeverityLevel, type TagSets, tag } from './tags.ts'

/** Filters of a list; those that are undefined do not filter. */
export interface Selection {
  /** Any of these. */
  readonly namespaces?: readonly string[] | undefined
  readonly kind?: ParentKind | undefined
  /** Words of the address, or a whole address, in any case. */
  readonly text?: string | undefined
  readonly synced?: boolean | undefined
  /** If both are given, they apply to the same platform; in any case. */
  readonly os?: string | undefined
  readonly arch?: string | undefined
  /** Minimum severity, in the latest version. */
  readonly severity?: SeverityLevel | undefined
  readonly publicOnly?: boolean | undefined
}

interface Sets {
  readonly seen: Bits
  readonly isPublic: Bits
  readonly tags: TagSets
  readonly names: NameSearch
}

/** The visible entries of a selection, as a set that must not be changed. */
export function chosen(selection: Selection, sets: Sets): Bits {
  const { namespaces, kind, text, synced, os, arch, severity, publicOnly } = selection
  const { tags } = sets
  const parts: Bits[] = []
  if (publicOnly) parts.push(sets.isPublic)
  if (kind !== undefined) parts.push(tags.get(tag.kind(kind)))
  if (synced !== undefined) parts.push(tags.get(tag.synced(synced)))
  if (os !== undefined || arch !== undefined) parts.push(tags.get(tag.platform(os, arch)))
  if (severity !== undefined) parts.push(tags.get(tag.severity(severity)))
  if (namespaces !== undefined) parts.push(anyOf(namespaces, tags))
  if (parts.length === 0 && text === undefined) return sets.seen
  const set = sets.seen.copy()
  for (const part of parts) set.keep(part)
  if (text !== undefined) sets.names.narrow(set, text)
  return set
}

function anyOf(namespaces: readonly string[], tags: TagSets): Bits {
  const [first = '', ...others] = new Set(namespaces)
  const union = tags.get(tag.namespace(first))
  if (others.length === 0) return union
  return others.reduce((set, name) => set.merge(tags.get(tag.namespace(name))), union.copy())
}
