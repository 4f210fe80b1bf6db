import type { DepotGraph } from '../api/records.ts'

/* Where everything stands: depots on the left, what they manage on the right, in columns. In pixels at zoom 1. */

export interface Box {
  readonly id: string
  readonly kind: 'depot' | 'module' | 'provider'
  readonly words: string
  /** What stands below the name of a depot, or at the end of a resource's box. */
  readonly note: string
  readonly synced: boolean
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** Ids at the other ends of its edges. */
  readonly neighbours: readonly string[]
}

export interface Layout {
  readonly boxes: readonly Box[]
  readonly byId: ReadonlyMap<string, Box>
  readonly edges: readonly (readonly [depot: Box, resource: Box])[]
  readonly width: number
  readonly height: number
}

const depotSize = { width: 232, height: 46 }
const resourceSize = { width: 304, height: 30 }
const depotPitch = 58
const resourcePitch = 36
const left = 24
const top = 46
/** Room for the curves. */
const between = 130
const betweenColumns = 40
const fewestRows = 24

type Resource = Pick<Box, 'id' | 'kind' | 'words' | 'note' | 'synced'>

/** @param folded ids of depots whose resources are not drawn */
export function layOut(graph: DepotGraph, folded: ReadonlySet<string> = new Set()): Layout {
  const open = graph.edges.filter(({ source }) => !folded.has(source))
  const managed = new Map<string, string[]>(graph.depots.map(({ id }) => [id, []]))
  const managers = new Map<string, string[]>()
  for (const { source, target } of open) {
    managed.get(source)?.push(target)
    const known = managers.get(target)
    if (known === undefined) managers.set(target, [source])
    else known.push(source)
  }
  const resources = resourcesOf(graph).filter(({ id }) => managers.has(id))
  const [depotOrder, resourceOrder] = untangled(
    graph.depots.map(({ id }) => id),
    resources.map(({ id }) => id),
    managed,
    managers,
  )
  const rows = Math.max(
    fewestRows,
    Math.ceil((depotOrder.length * depotPitch) / resourcePitch),
    Math.ceil(Math.sqrt(resources.length) * 2),
  )
  const byName = new Map(resources.map((it) => [it.id, it]))
  const right = resourceOrder.flatMap((id, at) => {
    const resource = byName.get(id)
    if (resource === undefined) return []
    const column = Math.floor(at / rows)
    const x = left + depotSize.width + between + column * (resourceSize.width + betweenColumns)
    const y = top + (at % rows) * resourcePitch
    return [{ ...resource, ...resourceSize, x, y, neighbours: managers.get(id) ?? [] }]
  })
  const ys = new Map(right.map(({ id, y }) => [id, y]))
  const depots = depotBoxes(graph, depotOrder, managed, ys, folded)
  return finish(depots, right, open)
}

function resourcesOf(graph: DepotGraph): Resource[] {
  const modules = graph.modules.map((it) => ({
    id: it.id,
    kind: 'module' as const,
    words: `${it.namespace}/${it.name}`,
    note: it.latestVersion ?? '',
    synced: it.synced,
  }))
  const providers = graph.providers.map((it) => ({
    id: it.id,
    kind: 'provider' as const,
    words: `${it.namespace}/${it.name}`,
    note: '',
    synced: it.synced,
  }))
  return [...modules, ...providers]
}

/** Puts each side in the order of the mean position of its neighbours, which leaves few edges crossing. */
function untangled(
  depots: readonly string[],
  resources: readonly string[],
  managed: ReadonlyMap<string, readonly string[]>,
  managers: ReadonlyMap<string, readonly string[]>,
): [depots: string[], resources: string[]] {
  let leftSide = [...depots]
  let rightSide = [...resources]
  for (let round = 0; round < 2; round += 1) {
    rightSide = ordered(rightSide, managers, leftSide)
    leftSide = ordered(leftSide, managed, rightSide)
  }
  return [leftSide, ordered(rightSide, managers, leftSide)]
}

function ordered(
  side: readonly string[],
  neighbours: ReadonlyMap<string, readonly string[]>,
  other: readonly string[],
): string[] {
  const place = new Map(other.map((id, at) => [id, at]))
  const means = new Map(
    side.map((id, at) => {
      const places = (neighbours.get(id) ?? []).map((it) => place.get(it) ?? 0)
      return [id, places.length === 0 ? at : mean(places)]
    }),
  )
  return side.toSorted((a, b) => (means.get(a) ?? 0) - (means.get(b) ?? 0))
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, it) => sum + it, 0) / numbers.length

/** Depots stand beside the middle of what they manage, as far as they do not overlap. */
function depotBoxes(
  graph: DepotGraph,
  order: readonly string[],
  managed: ReadonlyMap<string, readonly string[]>,
  ys: ReadonlyMap<string, number>,
  folded: ReadonlySet<string>,
): Box[] {
  const byId = new Map(graph.depots.map((it) => [it.id, it]))
  let free = top
  return order.flatMap((id) => {
    const depot = byId.get(id)
    if (depot === undefined) return []
    const neighbours = managed.get(id) ?? []
    const wanted = neighbours.flatMap((it) => ys.get(it) ?? [])
    const offset = (depotSize.height - resourceSize.height) / 2
    const y = Math.max(free, wanted.length === 0 ? 0 : mean(wanted) - offset)
    free = y + depotPitch
    const count = depot.managedModuleNames.length + depot.managedProviderNames.length
    const words = `${depot.namespace}/${depot.name}`
    const note = folded.has(id) ? `manages ${count}, folded` : depotNote(depot)
    return [
      {
        id,
        kind: 'depot' as const,
        words,
        note,
        synced: true,
        ...depotSize,
        x: left,
        y,
        neighbours,
      },
    ]
  })
}

export const depotNote = (
  depot: Pick<DepotGraph['depots'][number], 'storageBackend' | 'pollingIntervalMinutes'>,
): string =>
  [
    ...(depot.storageBackend === undefined ? [] : [depot.storageBackend]),
    depot.pollingIntervalMinutes === 0
      ? 'never polls'
      : `every ${depot.pollingIntervalMinutes} min`,
  ].join(', ')

function finish(
  depots: readonly Box[],
  resources: readonly Box[],
  open: DepotGraph['edges'],
): Layout {
  const boxes = [...depots, ...resources]
  const byId = new Map(boxes.map((box) => [box.id, box]))
  const edges = open.flatMap(({ source, target }) => {
    const [from, to] = [byId.get(source), byId.get(target)]
    return from === undefined || to === undefined ? [] : [[from, to] as const]
  })
  const width = Math.max(0, ...boxes.map((box) => box.x + box.width)) + left
  const height = Math.max(0, ...boxes.map((box) => box.y + box.height)) + left
  return { boxes, byId, edges, width, height }
}
