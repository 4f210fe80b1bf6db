import type { DepotGraph } from '../api/records.ts'
import { itemsOf } from './managed.ts'

/* Which depots are drawn without what they manage, so that a large graph can be read and drawn at once. */

/** Larger graphs begin with every depot folded. */
const foldAbove = 1000

const none: ReadonlySet<string> = new Set()

/** @param opened ids of depots that were unfolded */
export function foldedIn(graph: DepotGraph, opened: ReadonlySet<string>): ReadonlySet<string> {
  const { depots, modules, providers } = graph
  if (depots.length + modules.length + providers.length <= foldAbove) return none
  return new Set(depots.map(({ id }) => id).filter((id) => !opened.has(id)))
}

/** Ids of the depots that manage any of these nodes. */
export function managersOf(graph: DepotGraph, nodes: ReadonlySet<string>): string[] {
  return Array.from(itemsOf(graph))
    .filter(([, items]) => items.some(({ id }) => nodes.has(id)))
    .map(([id]) => id)
}
