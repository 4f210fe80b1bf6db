import type { DepotGraph } from '../api/records.ts'
import type { Address } from '../url/pages.ts'

/** A module or provider, as a depot's list has it. */
export interface Managed extends Address {
  readonly id: string
  readonly synced: boolean
}

const known = new WeakMap<DepotGraph, ReadonlyMap<string, readonly Managed[]>>()

/** What each depot manages, by its id. */
export function itemsOf(graph: DepotGraph): ReadonlyMap<string, readonly Managed[]> {
  const before = known.get(graph)
  if (before !== undefined) return before
  const resources = new Map<string, Managed>([
    ...graph.modules.map((it) => [it.id, { ...it, kind: 'module' }] as const),
    ...graph.providers.map((it) => [it.id, { ...it, kind: 'provider' }] as const),
  ])
  const items = new Map<string, Managed[]>(graph.depots.map(({ id }) => [id, []]))
  for (const { source, target } of graph.edges) {
    const resource = resources.get(target)
    if (resource !== undefined) items.get(source)?.push(resource)
  }
  known.set(graph, items)
  return items
}

/** Ids of nodes whose address holds a text, with the depots that manage them; undefined for no text. */
export function search(graph: DepotGraph, text: string): ReadonlySet<string> | undefined {
  if (text === '') return undefined
  const wanted = text.toLowerCase()
  const matches = (it: { namespace: string; name: string }): boolean =>
    `${it.namespace}/${it.name}`.toLowerCase().includes(wanted)
  const all = [...graph.depots, ...graph.modules, ...graph.providers]
  return new Set(all.filter(matches).map(({ id }) => id))
}
