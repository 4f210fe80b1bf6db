import { describe, expect, it } from 'vitest'
import type { GroupBinding } from '../../api/v1alpha1/v1alpha1.ts'
import { parseResource } from '../../api/v1alpha1/v1alpha1.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { ExpressionError } from '../../expr/expr.ts'
import { allows, compileBinding, GroupBindings } from './access.ts'

const namespace = 'depot-system'

type Lists = Pick<GroupBinding['spec'], 'moduleResources' | 'providerResources'>

function binding(name: string, expression: string, lists: Lists = {}): GroupBinding {
  const parsed = parseResource('GroupBinding', {
    metadata: { name, namespace },
    spec: { expression, ...lists },
  })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.resource
}

function bindingsOf(...resources: GroupBinding[]): GroupBindings {
  const metrics = createMetrics({ version: 'test' })
  const bindings = new GroupBindings({ namespace, log: createLogger('silent'), metrics })
  for (const resource of resources) upsert(bindings, resource)
  return bindings
}

function upsert(bindings: GroupBindings, resource: GroupBinding): void {
  bindings.apply({ type: 'upsert', resource })
}

function remove(bindings: GroupBindings, name: string): void {
  bindings.apply({ type: 'delete', kind: 'GroupBinding', namespace, name })
}

/** The name of what matched, `none`, or `!` and the name of what failed. */
function decide(bindings: GroupBindings, groups: readonly string[]): string {
  const decision = bindings.decide(groups)
  if (decision.kind === 'matched') return decision.binding.name
  return decision.kind === 'failed' ? `!${decision.name}` : 'none'
}

describe('the first binding in the order of names whose expression is true decides', () => {
  it.each([
    { name: 'there is none', given: [], decision: 'none' },
    { name: 'none is true', given: [['a', 'false']], decision: 'none' },
    {
      name: 'two are true',
      given: [
        ['b', 'true'],
        ['a', 'true'],
      ],
      decision: 'a',
    },
    {
      name: 'the first is false',
      given: [
        ['a', 'false'],
        ['b', 'true'],
      ],
      decision: 'b',
    },
    {
      name: 'names are compared by bytes',
      given: [
        ['a', 'true'],
        ['B', 'true'],
      ],
      decision: 'B',
    },
    {
      name: 'a-1 is before a.1 and a1',
      given: [
        ['a1', 'true'],
        ['a.1', 'true'],
        ['a-1', 'true'],
      ],
      decision: 'a-1',
    },
    {
      name: 'one before the match does not compile',
      given: [
        ['a', 'nope'],
        ['b', 'true'],
      ],
      decision: '!a',
    },
    {
      name: 'one before the match cannot be evaluated',
      given: [
        ['a', 'groups[9] == "x"'],
        ['b', 'true'],
      ],
      decision: '!a',
    },
    {
      name: 'one after the match does not compile',
      given: [
        ['a', 'true'],
        ['b', 'nope'],
      ],
      decision: 'a',
    },
    {
      name: 'nil is not true',
      given: [
        ['a', '{}.x'],
        ['b', 'true'],
      ],
      decision: 'b',
    },
  ])('$name: $decision', ({ given, decision }) => {
    const resources = given.map(([name = '', expression = '']) => binding(name, expression))
    expect(decide(bindingsOf(...resources), ['dev'])).toBe(decision)
  })

  it('reports why a binding failed', () => {
    const decision = bindingsOf(binding('a', 'group == 1')).decide([])
    expect(decision).toMatchObject({ kind: 'failed', name: 'a' })
    expect(decision).toHaveProperty('error.code', 'UnknownName')
  })
})

describe('a decision for a list of groups', () => {
  it('is remembered', () => {
    const bindings = bindingsOf(binding('a', '"dev" in groups'))
    expect(bindings.decide(['dev'])).toBe(bindings.decide(['dev']))
  })

  it('is not confused with that for another list', () => {
    const bindings = bindingsOf(
      binding('a', 'groups == ["a", "b"]'),
      binding('b', 'len(groups) > 1'),
    )
    expect(decide(bindings, ['a', 'b'])).toBe('a')
    expect(decide(bindings, ['b', 'a'])).toBe('b')
    expect(decide(bindings, ['a', 'b', 'b'])).toBe('b')
    expect(decide(bindings, ['a,b'])).toBe('none')
    expect(decide(bindings, ['a","b'])).toBe('none')
    expect(decide(bindings, [])).toBe('none')
    expect(decide(bindings, [''])).toBe('none')
  })

  it.each([
    {
      name: 'a binding is added before',
      change: (b: GroupBindings) => upsert(b, binding('a', 'true')),
      decision: 'a',
    },
    {
      name: 'the binding is deleted',
      change: (b: GroupBindings) => remove(b, 'b'),
      decision: 'none',
    },
    {
      name: 'the binding is changed',
      change: (b: GroupBindings) => upsert(b, binding('b', 'false')),
      decision: 'none',
    },
    {
      name: 'the binding is broken',
      change: (b: GroupBindings) => upsert(b, binding('b', 'nope')),
      decision: '!b',
    },
    { name: 'nothing changes', change: (b: GroupBindings) => remove(b, 'x'), decision: 'b' },
  ])('is correct immediately after $name', ({ change, decision }) => {
    const bindings = bindingsOf(binding('b', '"dev" in groups'))
    expect(decide(bindings, ['dev'])).toBe('b')
    change(bindings)
    expect(decide(bindings, ['dev'])).toBe(decision)
  })

  it('outlives a change of the status only', () => {
    const bindings = bindingsOf(binding('a', 'true'))
    const before = bindings.decide([])
    const { revision } = bindings
    upsert(bindings, { ...binding('a', 'true'), status: { conditions: [] } })
    expect(bindings.revision).toBe(revision)
    expect(bindings.decide([])).toBe(before)
  })

  it('is forgotten for the least recently used list, and computed again', () => {
    const bindings = bindingsOf(binding('a', '"g7" in groups'))
    const first = bindings.decide(['g0'])
    for (let index = 1; index <= 10_000; index += 1) bindings.decide([`g${index}`])
    expect(bindings.decide(['g0'])).not.toBe(first)
    expect(bindings.decide(['g0'])).toEqual(first)
    expect(decide(bindings, ['g7'])).toBe('a')
  })
})

it('limits the work of all bindings together', () => {
  const slow = 'any(1..900, any(1..1000, # < 0))'
  const names = Array.from({ length: 20 }, (_, index) => `slow-${String(index).padStart(2, '0')}`)
  const bindings = bindingsOf(...names.map((name) => binding(name, slow)))
  expect(bindings.decide([])).toMatchObject({ kind: 'failed', error: { code: 'WorkExceeded' } })
})

it('explains every binding, even after a match', () => {
  const bindings = bindingsOf(binding('c', 'true'), binding('b', 'nope'), binding('a', 'false'))
  expect(bindings.explain(['dev'])).toEqual([
    { name: 'a', result: false, counts: true },
    { name: 'b', result: expect.any(ExpressionError) as unknown, counts: true },
    { name: 'c', result: true, counts: true },
  ])
})

describe('a binding allows', () => {
  it.each([
    { kind: 'Module', lists: {}, name: 'vpc', allowed: false },
    { kind: 'Module', lists: { moduleResources: [] }, name: 'vpc', allowed: false },
    { kind: 'Module', lists: { moduleResources: ['vpc'] }, name: 'vpc', allowed: true },
    { kind: 'Module', lists: { moduleResources: ['vpc'] }, name: 'vpc-2', allowed: false },
    { kind: 'Module', lists: { moduleResources: ['vpc-*', 'net?'] }, name: 'net1', allowed: true },
    { kind: 'Module', lists: { moduleResources: ['*'] }, name: 'anything', allowed: true },
    { kind: 'Module', lists: { moduleResources: ['VPC'] }, name: 'vpc', allowed: false },
    { kind: 'Module', lists: { moduleResources: ['['] }, name: '[', allowed: false },
    { kind: 'Module', lists: { moduleResources: ['[', 'vpc'] }, name: 'vpc', allowed: true },
    { kind: 'Module', lists: { providerResources: ['*'] }, name: 'vpc', allowed: false },
    { kind: 'Provider', lists: {}, name: 'aws', allowed: false },
    { kind: 'Provider', lists: { providerResources: ['aws'] }, name: 'aws', allowed: true },
    { kind: 'Provider', lists: { providerResources: ['aws*'] }, name: 'awscc', allowed: false },
    { kind: 'Provider', lists: { providerResources: ['*'] }, name: 'aws', allowed: true },
    { kind: 'Provider', lists: { moduleResources: ['*'] }, name: 'aws', allowed: false },
  ] as const)('$kind $name with $lists: $allowed', ({ kind, lists, name, allowed }) => {
    const copied = Object.fromEntries(Object.entries(lists).map(([key, list]) => [key, [...list]]))
    expect(allows(compileBinding(binding('x', 'true', copied)), kind, name)).toBe(allowed)
  })
})

describe('a mistake in a binding', () => {
  it.each([
    {
      name: 'nothing',
      resource: binding('x', 'true', { moduleResources: ['a*'] }),
      problem: undefined,
    },
    {
      name: 'its expression',
      resource: binding('x', '"a" in group'),
      problem: 'expression: unknown name group (1:8)\n | "a" in group\n | .......^',
    },
    {
      name: 'its globs',
      resource: binding('x', 'true', { moduleResources: ['ok', '[', 'a\\'] }),
      problem:
        'moduleResources "[": the pattern ends too early\nmoduleResources "a\\\\": the pattern ends too early',
    },
  ])('is reported: $name', ({ resource, problem }) => {
    expect(compileBinding(resource).problem).toBe(problem)
  })
})
