import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { ClusterReadmes } from './cluster-readmes.ts'
import type { ObservedObject } from './list-watch.ts'

const configMap = (namespace: string, name: string, bytes: number, resourceVersion = '1') => ({
  metadata: {
    namespace,
    name,
    resourceVersion,
    uid: name,
    labels: { 'depot.internal/readme': '' },
  },
  data: { README: randomBytes(bytes).toString('base64') },
})

function storeOf(maxBytes: number) {
  const missing: string[] = []
  const store = new ClusterReadmes('depot.internal', maxBytes)
  store.fillBy((id) => missing.push(id))
  return {
    store,
    missing,
    dropped: () => store.dropped,
    put: (namespace: string, name: string, bytes: number): void => {
      store.want(namespace, name)
      store.upsert(configMap(namespace, name, bytes))
    },
    has: (namespace: string, name: string) =>
      store.get(namespace, name, 'README', 'v') !== undefined,
  }
}

it('drops the least recently read READMEs of the namespace with most bytes', () => {
  const { store, put, has, dropped } = storeOf(100_000)
  put('small', 'one', 10_000)
  for (const name of ['a', 'b', 'c']) put('big', name, 28_000)
  expect([has('big', 'a'), dropped()]).toEqual([true, 0])
  put('big', 'd', 28_000)
  expect(store.bytes).toBeLessThanOrEqual(100_000)
  expect(dropped()).toBe(1)
  expect([has('small', 'one'), has('big', 'a'), has('big', 'c'), has('big', 'd')]).toEqual([
    true,
    true,
    true,
    true,
  ])
})

it('ignores the interface that is next to a README', () => {
  const { store, put } = storeOf(1_000_000)
  put('a', 'one', 1000)
  const { bytes } = store
  const { metadata, data } = configMap('a', 'one', 1000, '2')
  const interfaceJson = randomBytes(1000).toString('base64')
  store.upsert({ metadata, data: { 'interface.json': interfaceJson, ...data } } as ObservedObject)
  expect(store.bytes).toBe(bytes)
  expect(store.get('a', 'one', 'interface.json', 'v')).toBeUndefined()
})

it('requests a dropped README once if it is read, and shows it when it has arrived', () => {
  const { store, put, has, missing } = storeOf(50_000)
  put('team', 'a', 30_000)
  put('team', 'b', 30_000)
  missing.length = 0
  expect(store.unwatched).toEqual([])
  expect([has('team', 'a'), has('team', 'a')]).toEqual([false, false])
  expect(missing).toEqual(['team/a'])
  store.fetched('team/a', configMap('team', 'a', 30_000))
  expect([has('team', 'a'), store.bytes <= 50_000]).toEqual([true, true])
})

it('counts bytes of READMEs that change, are lost and are forgotten', () => {
  const { store, put } = storeOf(1_000_000)
  put('team', 'a', 30_000)
  put('team', 'b', 10_000)
  store.upsert(configMap('team', 'a', 50_000, '2'))
  expect(store.bytes).toBeGreaterThan(59_000)
  expect(store.bytes).toBeLessThan(61_000)
  store.delete(configMap('team', 'a', 1, '3'))
  store.forget('team', 'b')
  expect(store.bytes).toBe(0)
})

it('does not report a dropped README as a difference', () => {
  const { store, put } = storeOf(50_000)
  put('team', 'a', 30_000)
  put('team', 'b', 30_000)
  const comparison = store.compare('1')
  expect(comparison.add(configMap('team', 'a', 1))).toBe(true)
  expect(comparison.add(configMap('team', 'b', 1))).toBe(true)
  expect(comparison.unlisted()).toBe(0)
})
