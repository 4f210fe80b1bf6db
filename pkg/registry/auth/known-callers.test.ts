import { beforeEach, describe, expect, it } from 'vitest'
import { parseResource } from '../../api/v1alpha1/v1alpha1.ts'
import { createLogger, createMetrics, type RequestFacts } from '../../base/telemetry/telemetry.ts'
import { GroupBindings } from '../access/access.ts'
import { AuthMetrics, KnownCallers, type KnownCallersOptions } from './callers.ts'
import { type CallerSession, unnamedSession } from './session.ts'

const guest = unnamedSession('oidc', 'guest')
let bindings: GroupBindings
let nowMs = 0
let labelled: string[] = []

beforeEach(() => {
  const log = createLogger('silent')
  const metrics = createMetrics({ version: 'test' })
  bindings = new GroupBindings({ namespace: 'depot-system', log, metrics })
  bind('a', { expression: '"a" in groups', moduleResources: ['a-*'], providerResources: ['a'] })
  bind('b', { expression: '"b" in groups', moduleResources: ['b-*'] })
  nowMs = 0
  labelled = []
})

function bind(name: string, spec: object): void {
  const parsed = parseResource('GroupBinding', {
    metadata: { name, namespace: 'depot-system' },
    spec,
  })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  bindings.apply({ type: 'upsert', resource: parsed.resource })
}

function open(options: Partial<KnownCallersOptions> = {}): KnownCallers {
  return new KnownCallers({
    tokenless: undefined,
    readsTokens: true,
    bindings,
    isPublic: (_kind, _namespace, name) => labelled.includes(name),
    metrics: new AuthMetrics(createMetrics({ version: 'test' }), 'oidc'),
    clock: () => nowMs,
    ...options,
  })
}

/** Makes a token known until it expires. */
function teach(known: KnownCallers, token: string, groups: string[], expiresAtMs = 1000): void {
  const hash = known.hashOf(token)
  const caller = { mode: 'oidc', kind: 'user', subject: token, groups, hash } as const
  known.keep(hash, { caller } satisfies CallerSession, expiresAtMs)
}

const sees = (known: KnownCallers, authorization: string | undefined, name: string) =>
  known.readerOf({ authorization }, 'Module', 'platform', name) !== undefined

describe('a known token', () => {
  it('sees exactly what its binding allows, at each request', () => {
    const known = open()
    teach(known, 'one', ['a'])
    teach(known, 'two', ['b'])
    for (let times = 0; times < 3; times += 1) {
      expect(sees(known, 'Bearer one', 'a-vpc')).toBe(true)
      expect(sees(known, 'Bearer two', 'a-vpc')).toBe(false)
      expect(sees(known, 'Bearer one', 'b-vpc')).toBe(false)
      expect(sees(known, 'Bearer two', 'b-vpc')).toBe(true)
    }
    const one = { authorization: 'Bearer one' }
    expect(known.readerOf(one, 'Provider', 'platform', 'a')).toBeDefined()
    expect(known.readerOf(one, 'Provider', 'platform', 'a-vpc')).toBeUndefined()
  })

  it('sees resources that became public, and no longer those that were', () => {
    const known = open()
    teach(known, 'one', ['a'])
    expect(sees(known, 'Bearer one', 'b-vpc')).toBe(false)
    labelled = ['b-vpc']
    expect(sees(known, 'Bearer one', 'b-vpc')).toBe(true)
    labelled = []
    expect(sees(known, 'Bearer one', 'b-vpc')).toBe(false)
  })

  it('is known until it expires', () => {
    const known = open()
    teach(known, 'one', ['a'], 500)
    nowMs = 499
    expect(sees(known, 'Bearer one', 'a-vpc')).toBe(true)
    nowMs = 500
    expect(sees(known, 'Bearer one', 'a-vpc')).toBe(false)
    expect(known.viewOf({ authorization: 'Bearer one' })).toBeUndefined()
  })

  it('is unknown after the keys of the issuer changed', () => {
    const known = open()
    teach(known, 'one', ['a'])
    expect(sees(known, 'Bearer one', 'a-vpc')).toBe(true)
    known.forget()
    expect(sees(known, 'Bearer one', 'a-vpc')).toBe(false)
  })

  it.each([
    'bearer one',
    'Bearer  one',
    'Bearer one ',
    'Bearer on',
    'Bearer one1',
    'Bearer One',
    'Bearer one, Bearer one',
    'Bearer',
    'Bearer ',
    'one',
    '',
    'Basic one',
  ])('is not found without a wait under %j', (authorization) => {
    const known = open()
    teach(known, 'one', ['a'])
    expect(sees(known, authorization, 'a-vpc')).toBe(false)
    expect(sees(known, 'Bearer one', 'a-vpc')).toBe(true)
    expect(sees(known, authorization, 'a-vpc')).toBe(false)
    expect(sees(known, authorization + 'x'.repeat(60_000), 'a-vpc')).toBe(false)
  })

  it('is named in the access log with its current view', () => {
    const known = open()
    teach(known, 'one', ['a'])
    const facts: RequestFacts = {}
    known.readerOf({ authorization: 'Bearer one', facts }, 'Module', 'platform', 'a-vpc')
    expect(facts).toEqual({
      mode: 'oidc',
      subject: 'one',
      callerHash: known.hashOf('one'),
      view: 'binding a',
    })
  })
})

describe('a GroupBinding that changes, for a caller who has asked before', () => {
  const asked = (): KnownCallers => {
    const known = open()
    teach(known, 'one', ['a'])
    expect(sees(known, 'Bearer one', 'a-vpc')).toBe(true)
    expect(sees(known, 'Bearer one', 'c-vpc')).toBe(false)
    return known
  }

  it('allows other names at once', () => {
    const known = asked()
    bind('a', { expression: '"a" in groups', moduleResources: ['c-*'] })
    expect(sees(known, 'Bearer one', 'a-vpc')).toBe(false)
    expect(sees(known, 'Bearer one', 'c-vpc')).toBe(true)
  })

  it('no longer allows the caller', () => {
    const known = asked()
    bind('a', { expression: '"z" in groups', moduleResources: ['a-*'] })
    expect(sees(known, 'Bearer one', 'a-vpc')).toBe(false)
    expect(known.viewOf({ authorization: 'Bearer one' })?.view).toBe('public')
  })

  it('is deleted, and created again', () => {
    const known = asked()
    const key = { kind: 'GroupBinding', namespace: 'depot-system', name: 'a' } as const
    bindings.apply({ type: 'delete', ...key })
    expect(sees(known, 'Bearer one', 'a-vpc')).toBe(false)
    bind('a', { expression: '"a" in groups', moduleResources: ['a-*'] })
    expect(sees(known, 'Bearer one', 'a-vpc')).toBe(true)
  })

  it('is broken: nothing is decided without a wait, even for public resources', () => {
    const known = asked()
    labelled = ['a-vpc']
    bind('a', { expression: 'groups[7] == ""', moduleResources: ['a-*'] })
    expect(sees(known, 'Bearer one', 'a-vpc')).toBe(false)
    expect(known.viewOf({ authorization: 'Bearer one' })).toBeUndefined()
  })

  it('is overridden by a binding before it', () => {
    const known = asked()
    bind('0', { expression: 'true', moduleResources: ['c-*'] })
    expect(sees(known, 'Bearer one', 'a-vpc')).toBe(false)
    expect(sees(known, 'Bearer one', 'c-vpc')).toBe(true)
  })
})

describe('callers without a token', () => {
  it('see public resources if they are allowed', () => {
    const known = open({ tokenless: guest })
    labelled = ['a-vpc']
    expect(sees(known, undefined, 'a-vpc')).toBe(true)
    expect(sees(known, undefined, 'b-vpc')).toBe(false)
    expect(sees(open(), undefined, 'a-vpc')).toBe(false)
  })

  it('do not bypass an unknown token', () => {
    const known = open({ tokenless: guest })
    labelled = ['a-vpc']
    expect(sees(known, 'Bearer unknown', 'a-vpc')).toBe(false)
    expect(sees(known, '', 'a-vpc')).toBe(false)
  })

  it('see everything in mode anonymous, whatever they send', () => {
    const known = open({ tokenless: unnamedSession('anonymous', 'anonymous'), readsTokens: false })
    expect(sees(known, undefined, 'a-vpc')).toBe(true)
    expect(sees(known, 'Bearer made-up', 'b-vpc')).toBe(true)
  })
})
