import {
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  oneof,
  tuple,
} from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type {
  FakeApiServer,
  FakeObject,
} from '../../../hack/testbed/control-plane/fake-api-server.ts'
import {
  configMaps,
  type FakeCluster,
  fastTimings,
  moduleObject,
  paths,
  readmeObject,
  startFakeCluster,
} from '../../../hack/testbed/control-plane/fake-cluster.ts'

const withThree = (timings = fastTimings) =>
  startFakeCluster({
    timings,
    prepare: (api) => {
      for (const name of ['a', 'b', 'c']) api.put(paths.modules, moduleObject(name))
    },
  })

type State = readonly [resourceVersion: string | undefined, uid: unknown, provider: unknown]

/** States on the server, by name. */
function contentOf(fake: FakeCluster): Record<string, State> {
  const states: Record<string, State> = {}
  for (const resource of fake.sink.resources) {
    if (resource.kind !== 'Module') continue
    const { name, resourceVersion, uid } = resource.metadata
    states[name] = [resourceVersion, uid, resource.spec.moduleConfig.provider]
  }
  return states
}

/** States that the server should have. */
function contentAt(api: FakeApiServer): Record<string, State> {
  const states: Record<string, State> = {}
  for (const { metadata, spec } of api.objectsOf(paths.modules) as readonly StoredModule[]) {
    const { name, resourceVersion, uid } = metadata
    states[name] = [resourceVersion, uid, spec.moduleConfig.provider]
  }
  return states
}

type StoredModule = FakeObject & {
  readonly metadata: { readonly uid: string }
  readonly spec: { readonly moduleConfig: { readonly provider?: string } }
}

describe('changes that no watch delivers', () => {
  it.each([
    {
      name: 'a changed object',
      lose: (api: FakeApiServer) =>
        api.putSilently(paths.modules, moduleObject('b', { provider: 'x' })),
    },
    {
      name: 'a new object',
      lose: (api: FakeApiServer) => api.putSilently(paths.modules, moduleObject('d')),
    },
    {
      name: 'a deleted object',
      lose: (api: FakeApiServer) => api.deleteSilently(paths.modules, 'b', 'team'),
    },
  ])('$name is found by a comparison after a cut, counted and logged', async ({ lose }) => {
    await using fake = await withThree()
    await fake.cluster.ready
    lose(fake.api)
    fake.api.put(paths.modules, moduleObject('later'))
    await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'later')).toBeDefined())
    expect(contentOf(fake)).not.toEqual(contentAt(fake.api))
    fake.api.cut()
    await vi.waitFor(() => expect(contentOf(fake)).toEqual(contentAt(fake.api)))
    expect(await fake.metric('watch_differences_total', { kind: 'Module' })).toBe(1)
    expect(fake.logs).toContainEqual(
      expect.objectContaining({ level: 'error', msg: 'records differ', kind: 'Module' }),
    )
  })

  it('are found after some time without any interruption', async () => {
    const timings = { ...fastTimings, compareMs: 100, watchMinSeconds: 0.5, idleMs: 400 }
    await using fake = await startFakeCluster({ timings })
    await fake.cluster.ready
    fake.api.putSilently(paths.modules, moduleObject('a'))
    fake.api.put(paths.modules, moduleObject('b'))
    await vi.waitFor(() => expect(contentOf(fake)).toEqual(contentAt(fake.api)))
  })
})

it('a comparison without a difference changes nothing, and requests only metadata', async () => {
  await using fake = await withThree()
  await fake.cluster.ready
  fake.api.cut()
  await vi.waitFor(() => expect(fake.api.comparisonsOf(paths.modules)).not.toEqual([]))
  const [comparison] = fake.api.comparisonsOf(paths.modules)
  expect(comparison?.query).toMatchObject({ resourceVersion: fake.api.resourceVersion })
  expect(comparison?.accept).toContain('PartialObjectMetadataList')
  fake.api.put(paths.modules, moduleObject('d'))
  await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'd')).toBeDefined())
  expect(fake.sink.replacements).toBe(6)
  expect(await fake.metric('watch_differences_total', { kind: 'Module' })).toBe(0)
})

it('does not compare after watches that the server ended in time', async () => {
  const timings = { ...fastTimings, watchMinSeconds: 0.1, watchGraceMs: 5_000 }
  await using fake = await startFakeCluster({ timings })
  fake.api.endsInTime = true
  await fake.cluster.ready
  await vi.waitFor(() => expect(fake.api.requestsFor(paths.modules).length).toBeGreaterThan(3))
  expect(fake.api.comparisonsOf(paths.modules)).toEqual([])
})

describe('a restored etcd', () => {
  it.each([502, 503])('while a load balancer answered %i: reads objects again', async (status) => {
    await using fake = await withThree()
    await fake.cluster.ready
    for (let round = 0; round < 5; round += 1) {
      fake.api.put(paths.modules, moduleObject('a', { provider: `lost${round}` }))
    }
    await vi.waitFor(() => expect(contentOf(fake)).toEqual(contentAt(fake.api)))
    const refused = Promise.withResolvers<void>()
    fake.api.faults.push(({ path }, response) => {
      if (path !== paths.modules) return false
      response.writeHead(status).end()
      refused.resolve()
      return true
    })
    fake.api.cut()
    await refused.promise
    fake.api.restoreRevision(1003)
    // Other resources are written until the numbers are higher than before.
    fake.api.passRevisions(2)
    fake.api.put(paths.modules, moduleObject('a', { provider: 'new' }))
    fake.api.passRevisions(10)
    await vi.waitFor(() => expect(contentOf(fake)).toEqual(contentAt(fake.api)))
    expect(await fake.metric('watch_differences_total', { kind: 'Module' })).toBe(1)
  })

  it('is found by a comparison if numbers are from the future', async () => {
    await using fake = await withThree()
    await fake.cluster.ready
    fake.api.restoreRevision(1001)
    fake.api.cut()
    await vi.waitFor(() => expect(contentOf(fake)).toEqual(contentAt(fake.api)))
    const backwards = { kind: 'Module', reason: 'RevisionWentBack' }
    expect(await fake.metric('watch_relists_total', backwards)).toBe(1)
  })
})

it('READMEs: one with the label that was read by name is removed if it is deleted while nobody watches', async () => {
  await using fake = await startFakeCluster()
  const { readmes } = fake.cluster
  fake.api.put(configMaps, readmeObject('first', '# first'))
  readmes.want('team', 'first')
  await vi.waitFor(() => expect(readmes.get('team', 'first', 'README', 'v1')).toBe('# first'))
  fake.api.put(configMaps, readmeObject('a', '# A'))
  readmes.want('team', 'a')
  await vi.waitFor(() => expect(readmes.get('team', 'a', 'README', 'v1')).toBe('# A'))
  fake.api.deleteSilently(configMaps, 'a', 'team')
  fake.api.put(configMaps, readmeObject('first', '# later'))
  await vi.waitFor(() => expect(readmes.get('team', 'first', 'README', 'v1')).toBe('# later'))
  fake.api.cut()
  await vi.waitFor(() => expect(readmes.get('team', 'a', 'README', 'v1')).toBeUndefined())
})

const names = constantFrom('a', 'b', 'c', 'd')
const step = oneof(
  { weight: 6, arbitrary: tuple(constant('put' as const), names, boolean()) },
  { weight: 2, arbitrary: tuple(constant('delete' as const), names, boolean()) },
  { weight: 2, arbitrary: tuple(constant('cut' as const), names, boolean()) },
  { weight: 1, arbitrary: tuple(constant('restore' as const), names, boolean()) },
  { weight: 1, arbitrary: tuple(constant('compact' as const), names, boolean()) },
)

it('equals the API server after any history of changes, losses, cuts, restores and compactions', async () => {
  await assert(
    asyncProperty(array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await using fake = await withThree({ ...fastTimings, idleMs: 1_000 })
      await fake.cluster.ready
      const { api } = fake
      let count = 0
      for (const [what, name, isLost] of steps) {
        count += 1
        const object = moduleObject(name, { provider: `p${count}` })
        if (what === 'put' && isLost) api.putSilently(paths.modules, object)
        else if (what === 'put') api.put(paths.modules, object)
        else if (what === 'delete' && isLost) api.deleteSilently(paths.modules, name, 'team')
        else if (what === 'delete') api.delete(paths.modules, name, 'team')
        else if (what === 'compact') api.compact()
        else if (what === 'cut') api.cut()
        else {
          const revision = Number(api.resourceVersion)
          api.restoreRevision(Math.max(1003, revision - 5))
          // Other resources are written, too, so an object hardly ever gets the same number again.
          api.passRevisions(6)
          api.cut()
        }
        await new Promise((done) => setImmediate(done))
      }
      api.put(paths.modules, moduleObject('last'))
      await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'last')).toBeDefined())
      api.cut()
      await vi.waitFor(() => expect(contentOf(fake)).toEqual(contentAt(api)))
    }),
    { numRuns: 25 },
  )
}, 120_000)
