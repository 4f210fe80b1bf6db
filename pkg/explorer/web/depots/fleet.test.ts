import { describe, expect, it } from 'vitest'
import { canBeDrawn, fleetOf, groupsOf, nameOf, search, withHealth, worstFirst } from './fleet.ts'
import { graphOf } from './graph.fixture.ts'

const numbered = (letter: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${letter}${at}`)
const depotsOf = (managed: Readonly<Record<string, string[]>>, unsynced: string[] = []) =>
  fleetOf(graphOf(managed, unsynced)).depots

describe('a fleet', () => {
  it('lists what each depot manages, resources that are not in sync first, and who manages a resource', () => {
    const fleet = fleetOf(graphOf({ one: ['x', 'y'], two: ['y'], three: [] }, ['y']))
    expect(fleet.depots.map(({ items }) => items.map(({ name }) => name))).toEqual([
      ['y', 'x'],
      ['y'],
      [],
    ])
    const shared = fleet.nodes.get('a/module/y')
    expect(shared?.kind === 'module' && shared.managers.map(nameOf)).toEqual(['a/one', 'a/two'])
  })

  it('leaves out edges to resources that the graph does not have', () => {
    const graph = graphOf({ one: ['x'] })
    const edges = [...graph.edges, { id: 'lost', source: 'a/one', target: 'a/module/gone' }]
    expect(fleetOf({ ...graph, edges }).depots[0]?.items.map(({ name }) => name)).toEqual(['x'])
  })

  it('is filtered by health', () => {
    const fleet = fleetOf(graphOf({ one: ['x', 'y'], two: ['x'], three: [] }, ['y']))
    const named = (health: string) => withHealth(fleet, health).map(({ name }) => name)
    expect(named('')).toEqual(['one', 'two', 'three'])
    expect(named('healthy')).toEqual(['two', 'three'])
    expect(named('unsynced')).toEqual(['one'])
    expect(withHealth(undefined, 'healthy')).toEqual([])
  })

  it('has a state for each depot, its worst known one, and lists the worst first', () => {
    const graph = graphOf({ late: ['x'], ok: ['y'], held: ['x', 'z'], broken: ['y'] }, ['x'])
    const fleet = fleetOf({
      ...graph,
      modules: graph.modules.map((one) => (one.name === 'z' ? { ...one, removalHeld: true } : one)),
      depots: graph.depots.map((depot) =>
        depot.name === 'broken' ? { ...depot, ready: false, reason: 'SyncFailed' } : depot,
      ),
    })
    const states = fleet.depots.map(({ name, state }) => [name, state])
    expect(Object.fromEntries(states)).toEqual({
      late: 'unsynced',
      ok: 'healthy',
      held: 'held',
      broken: 'failing',
    })
    expect(worstFirst(fleet.depots).map(({ name }) => name)).toEqual(['broken', 'held', 'late'])
    expect(withHealth(fleet, 'trouble')).toHaveLength(3)
    expect(withHealth(fleet, 'held').map(({ name }) => name)).toEqual(['held'])
  })

  it.each([
    [{}, true],
    [{ one: numbered('m', 60), two: numbered('m', 60) }, true],
    [{ one: numbered('m', 60), two: ['another'] }, false],
    [Object.fromEntries(numbered('d', 12).map((name) => [name, ['x']])), true],
    [Object.fromEntries(numbered('d', 13).map((name) => [name, ['x']])), false],
  ])('is drawn with lines up to 12 depots and 60 resources: %#', (managed, drawn) => {
    expect(canBeDrawn(depotsOf(managed))).toBe(drawn)
  })
})

describe('a search', () => {
  const depots = depotsOf({
    network: ['vpc', 'vpc-peering'],
    storage: ['vpc', 'bucket'],
    other: [],
  })
  const found = (text: string) =>
    search(depots, text).map(({ depot, node }) => `${depot.name} ${node.kind} ${nameOf(node)}`)

  it('finds resources in every depot that manages them, in any letter case', () => {
    expect(found('VPC')).toEqual([
      'network module a/vpc',
      'network module a/vpc-peering',
      'storage module a/vpc',
    ])
  })

  it('finds depots, and addresses with a namespace', () => {
    expect(found('a/oth')).toEqual(['other depot a/other'])
    expect(found('storage')).toEqual(['storage depot a/storage'])
  })

  it.each(['', 'nothing'])('finds nothing for %j', (text) => {
    expect(found(text)).toEqual([])
  })
})

describe('groups of a drawing', () => {
  const groups = (managed: Readonly<Record<string, string[]>>) =>
    groupsOf(depotsOf(managed)).map(([depot, own]) => [depot.name, own.map(({ name }) => name)])

  it('show each resource once, next to its first depot and nearest to the next one', () => {
    expect(groups({ one: ['shared', 'b', 'c'], two: ['shared', 'd'], three: [] })).toEqual([
      ['one', ['b', 'c', 'shared']],
      ['two', ['d']],
      ['three', []],
    ])
  })

  it('show a resource next to the first depot that is drawn', () => {
    const [, ...rest] = depotsOf({ one: ['shared'], two: ['shared'] })
    expect(groupsOf(rest).map(([, own]) => own.map(({ name }) => name))).toEqual([['shared']])
  })
})
