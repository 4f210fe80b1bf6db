import { expect, it } from 'vitest'
import { foldedIn, managersOf } from './folded.ts'
import { graphOf } from './graph.fixture.ts'

const modules = (count: number): string[] => Array.from({ length: count }, (_, at) => `m${at}`)

it('folds every depot of a graph of more than 1,000 nodes, and none of one of 1,000', () => {
  const large = graphOf({ one: modules(999), two: ['m0'] })
  expect([...foldedIn(large, new Set())]).toEqual(['a/one', 'a/two'])
  expect([...foldedIn(large, new Set(['a/one', 'a/three']))]).toEqual(['a/two'])
  expect([...foldedIn(graphOf({ one: modules(998), two: ['m0'] }), new Set())]).toEqual([])
})

it('knows which depots manage a node', () => {
  const graph = graphOf({ one: ['x', 'y'], two: ['y'], three: [] })
  expect(managersOf(graph, new Set(['a/module/y']))).toEqual(['a/one', 'a/two'])
  expect(managersOf(graph, new Set(['a/module/x', 'a/three', '']))).toEqual(['a/one'])
})
