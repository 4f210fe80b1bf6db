import type { DepotGraph } from '../api/records.ts'
import type { PageAddress } from '../url/pages.ts'

/* The depots of a graph with the modules and providers that each manages. */

type GraphModule = DepotGraph['modules'][number]

export interface ResourceNode
  extends PageAddress,
    Pick<GraphModule, 'latestVersion' | 'scanCounts'> {
  readonly id: string
  readonly kind: 'module' | 'provider'
  readonly synced: boolean
  readonly removalHeld?: boolean | undefined
  readonly managers: DepotNode[]
}

/** The states of a depot, worst first. */
const states = ['failing', 'held', 'unsynced', 'healthy'] as const
export type DepotState = (typeof states)[number]

export interface DepotNode
  extends PageAddress,
    Omit<DepotGraph['depots'][number], keyof PageAddress> {
  readonly kind: 'depot'
  readonly state: DepotState
  /** Resources that are not in sync come first. */
  readonly items: readonly ResourceNode[]
  readonly unsynced: readonly ResourceNode[]
  /** Resources whose versions stay until a person confirms their removal. */
  readonly held: readonly ResourceNode[]
}

export type FleetNode = DepotNode | ResourceNode

export interface Fleet {
  readonly depots: readonly DepotNode[]
  readonly nodes: ReadonlyMap<string, FleetNode>
}

export function fleetOf(graph: DepotGraph): Fleet {
  const resources = new Map<string, ResourceNode>()
  for (const it of graph.modules) resources.set(it.id, { ...it, kind: 'module', managers: [] })
  for (const it of graph.providers) resources.set(it.id, { ...it, kind: 'provider', managers: [] })
  const targets = Map.groupBy(graph.edges, ({ source }) => source)
  const depots = graph.depots.map((depot) => {
    const managed = (targets.get(depot.id) ?? []).flatMap(
      ({ target }) => resources.get(target) ?? [],
    )
    const unsynced = managed.filter(({ synced }) => !synced)
    const items = [...unsynced, ...managed.filter(({ synced }) => synced)]
    const held = items.filter(({ removalHeld }) => removalHeld === true)
    const state = stateOf(depot.ready, held.length, unsynced.length)
    const node: DepotNode = { ...depot, kind: 'depot', state, items, unsynced, held }
    for (const { managers } of items) managers.push(node)
    return node
  })
  const nodes = new Map<string, FleetNode>(resources)
  for (const depot of depots) nodes.set(depot.id, depot)
  return { depots, nodes }
}

export const nameOf = ({ namespace, name }: PageAddress): string => `${namespace}/${name}`

function stateOf(ready: boolean | undefined, held: number, unsynced: number): DepotState {
  if (ready === false) return 'failing'
  return held > 0 ? 'held' : unsynced > 0 ? 'unsynced' : 'healthy'
}

export const isHealthy = ({ state }: DepotNode): boolean => state === 'healthy'

/** @param health the filter in the page's URL, empty for every depot */
export function withHealth(fleet: Fleet | undefined, health: string): readonly DepotNode[] {
  const depots = fleet?.depots ?? []
  if (health === '') return depots
  return depots.filter((it) => (health === 'trouble' ? !isHealthy(it) : it.state === health))
}

/** The depots that need attention, worst first. */
export const worstFirst = (depots: readonly DepotNode[]): DepotNode[] =>
  depots
    .filter((it) => !isHealthy(it))
    .toSorted(
      (a, b) =>
        states.indexOf(a.state) - states.indexOf(b.state) || b.unsynced.length - a.unsynced.length,
    )

const mostDrawnDepots = 12
const mostDrawnResources = 60

/** Whether lines between these depots and their resources can still be followed. */
export const canBeDrawn = (depots: readonly DepotNode[]): boolean =>
  depots.length <= mostDrawnDepots &&
  new Set(depots.flatMap(({ items }) => items)).size <= mostDrawnResources

/** A depot or resource that matches a search, and the depot that lists it. */
export interface FleetHit {
  readonly depot: DepotNode
  readonly node: FleetNode
}

/** @returns nothing for an empty text */
export function search(depots: readonly DepotNode[], text: string): FleetHit[] {
  if (text === '') return []
  const wanted = text.toLowerCase()
  return depots.flatMap((depot) =>
    [depot, ...depot.items]
      .filter((node) => nameOf(node).toLowerCase().includes(wanted))
      .map((node) => ({ depot, node })),
  )
}

/**
 * Each depot with the resources that are drawn next to it. A resource of several depots is drawn once, next to the first of
 * them and nearest to the others, so that few lines cross.
 */
export function groupsOf(depots: readonly DepotNode[]): [DepotNode, ResourceNode[]][] {
  const rank = new Map(depots.map((depot, at) => [depot, at]))
  const lastRank = ({ managers }: ResourceNode): number =>
    Math.max(...managers.map((depot) => rank.get(depot) ?? 0))
  return depots.map((depot) => [
    depot,
    depot.items
      .filter(({ managers }) => managers.find((it) => rank.has(it)) === depot)
      .toSorted((a, b) => lastRank(a) - lastRank(b)),
  ])
}
