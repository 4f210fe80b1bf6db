import { expect, it } from 'vitest'
import type { DepotGraph } from '../api/records.ts'
import { type Box, layOut } from './layout.ts'

const depot = (name: string, modules: string[]): DepotGraph['depots'][number] => ({
  id: `a/${name}`,
  namespace: 'a',
  name,
  pollingIntervalMinutes: 60,
  managedModuleNames: modules,
  managedProviderNames: [],
})

/** Every depot manages the modules that it names. */
function graphOf(managed: Readonly<Record<string, string[]>>): DepotGraph {
  const names = [...new Set(Object.values(managed).flat())]
  return {
    depots: Object.entries(managed).map(([name, modules]) => depot(name, modules)),
    modules: names.map((name) => ({
      id: `a/module/${name}`,
      namespace: 'a',
      name,
      synced: true,
      depotID: '',
    })),
    providers: [],
    edges: Object.entries(managed).flatMap(([name, modules]) =>
      modules.map((target) => ({
        id: `${name}-${target}`,
        source: `a/${name}`,
        target: `a/module/${target}`,
      })),
    ),
    summary: { totalDepots: 0, totalModules: 0, totalProviders: 0 },
    generatedAt: '2026-01-01T00:00:00Z',
  }
}

const overlaps = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

it('puts no two boxes on each other, however many there are', () => {
  const managed = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [
      `d${at}`,
      Array.from({ length: 30 }, (_item, n) => `m${(at * 17 + n * 7) % 300}`),
    ]),
  )
  const { boxes, edges } = layOut(graphOf(managed))
  expect(edges).toHaveLength(600)
  expect(
    boxes.filter((box, at) => boxes.slice(0, at).some((other) => overlaps(other, box))),
  ).toEqual([])
})

it('orders resources by where their depots are, so that edges do not cross', () => {
  const { boxes } = layOut(graphOf({ one: ['z', 'y'], two: ['a', 'b'], three: ['m'] }))
  const words = boxes.filter(({ kind }) => kind === 'module').map((box) => box.words)
  const groups = words.map((word) => ({ z: 1, y: 1, a: 2, b: 2, m: 3 })[word.slice(2)] ?? 0)
  expect(groups).toEqual(groups.toSorted((a, b) => a - b))
})

it('leaves out what only folded depots manage, and keeps what another one manages too', () => {
  const graph = graphOf({ one: ['a', 'b'], two: ['b'] })
  const { boxes, edges } = layOut(graph, new Set(['a/one']))
  expect(boxes.map(({ id }) => id)).toEqual(['a/one', 'a/two', 'a/module/b'])
  expect(edges).toHaveLength(1)
  expect(boxes[0]?.note).toBe('manages 2, folded')
})

it('draws nothing of nothing', () => {
  expect(layOut(graphOf({}))).toMatchObject({ boxes: [], edges: [] })
})
