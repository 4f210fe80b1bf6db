import { expect, it } from 'vitest'
import { graphOf } from './graph.fixture.ts'
import { type Box, layOut } from './layout.ts'

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
