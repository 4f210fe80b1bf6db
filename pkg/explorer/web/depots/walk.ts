import type { Box, Layout } from './layout.ts'

/**
 * Where a key leads to: up and down among depots or resources, right from a depot to what it manages, left from a resource
 * to its first depot.
 */
export function step(layout: Layout, from: string | undefined, key: string): Box | undefined {
  const { boxes, byId } = layout
  const box = from === undefined ? undefined : byId.get(from)
  if (box === undefined || key === 'Home') return boxes[0]
  if (key === 'End') return boxes.at(-1)
  const isDepot = box.kind === 'depot'
  if (key === 'ArrowRight' || key === 'ArrowLeft') {
    if (isDepot !== (key === 'ArrowRight')) return undefined
    return topmost(box.neighbours.flatMap((id) => byId.get(id) ?? []))
  }
  const side = boxes.filter(({ kind }) => (kind === 'depot') === isDepot)
  return side[side.indexOf(box) + (key === 'ArrowDown' ? 1 : -1)]
}

const topmost = (boxes: readonly Box[]): Box | undefined =>
  boxes.toSorted((a, b) => a.x - b.x || a.y - b.y)[0]
