import { expect, it, vi } from 'vitest'
import { sendStatus } from '../../../hack/testbed/control-plane/fake-answers.ts'
import { faultAt } from '../../../hack/testbed/control-plane/fake-api-server.ts'
import {
  configMaps,
  fastTimings,
  readmeObject,
  startFakeCluster,
} from '../../../hack/testbed/control-plane/fake-cluster.ts'

const byName = '/api/v1/namespaces/team/configmaps'

it('requests nothing as long as no README is needed', async () => {
  await using fake = await startFakeCluster()
  await fake.cluster.ready
  expect(fake.api.requestsFor(configMaps)).toEqual([])
})

it('keeps needed READMEs up to date, and no others', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => {
      api.put(configMaps, readmeObject('a', '# Größe 1'))
      api.put(configMaps, readmeObject('b', '# B'))
    },
  })
  const { readmes } = fake.cluster
  readmes.want('team', 'a')
  await vi.waitFor(() => expect(readmes.get('team', 'a', 'README', 'v1')).toBe('# Größe 1'))
  expect(readmes.get('team', 'a', 'OTHER', 'v1')).toBeUndefined()
  expect(readmes.get('team', 'b', 'README', 'v1')).toBeUndefined()

  fake.api.put(configMaps, readmeObject('a', '# 2'))
  await vi.waitFor(() => expect(readmes.get('team', 'a', 'README', 'v1')).toBe('# 2'))
  expect(fake.api.requestsFor(byName)).toEqual([])

  readmes.forget('team', 'a')
  expect(readmes.get('team', 'a', 'README', 'v1')).toBeUndefined()
})

it('requests by name a README that is needed later', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => {
      api.put(configMaps, readmeObject('a', '# A'))
      api.put(configMaps, readmeObject('b', '# B'))
    },
  })
  const { readmes } = fake.cluster
  readmes.want('team', 'a')
  await vi.waitFor(() => expect(readmes.get('team', 'a', 'README', 'v1')).toBe('# A'))
  readmes.want('team', 'b')
  await vi.waitFor(() => expect(readmes.get('team', 'b', 'README', 'v1')).toBe('# B'))
  const queries = fake.api.requestsFor(byName).map((request) => request.query)
  expect(queries).toEqual([{ fieldSelector: 'metadata.name=b', limit: '250' }])
})

it('requests by name one without the label, and retries failures', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => {
      api.put(configMaps, readmeObject('a', '# A', { labelled: false }))
      api.faults.push(faultAt(byName, (response) => sendStatus(response, 503)))
    },
  })
  fake.cluster.readmes.want('team', 'a')
  await vi.waitFor(() => expect(fake.cluster.readmes.get('team', 'a', 'README', 'v1')).toBe('# A'))
})

it('shows one without the label only to the Version that owns it', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => {
      api.put(configMaps, readmeObject('a', '# A', { labelled: false, owner: 'v2' }))
      const { ownerReferences: _, ...metadata } = readmeObject('s', '', { labelled: false })
        .metadata as Record<string, unknown> & { name: string }
      const secret = Buffer.from('a secret').toString('base64')
      api.put(configMaps, { kind: 'ConfigMap', metadata, data: { README: secret } })
    },
  })
  const { readmes } = fake.cluster
  readmes.want('team', 'a')
  readmes.want('team', 's')
  await vi.waitFor(() => expect(readmes.get('team', 'a', 'README', 'v2')).toBe('# A'))
  await vi.waitFor(() => expect(fake.api.requestsFor(byName).length).toBeGreaterThanOrEqual(2))
  expect(readmes.get('team', 'a', 'README', 'v1')).toBeUndefined()
  expect(readmes.get('team', 's', 'README', 'v2')).toBeUndefined()
})

it('drops a deleted one', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => api.put(configMaps, readmeObject('a', '# A')),
  })
  const { readmes } = fake.cluster
  readmes.want('team', 'a')
  await vi.waitFor(() => expect(readmes.get('team', 'a', 'README', 'v1')).toBe('# A'))
  fake.api.delete(configMaps, 'a', 'team')
  await vi.waitFor(() => expect(readmes.get('team', 'a', 'README', 'v1')).toBeUndefined())
  fake.api.put(configMaps, readmeObject('a', '# back'))
  await vi.waitFor(() => expect(readmes.get('team', 'a', 'README', 'v1')).toBe('# back'))
})

it('fetches many at once, and each one', async () => {
  const names = Array.from({ length: 200 }, (_, i) => `r${i}`)
  await using fake = await startFakeCluster({
    prepare: (api) => {
      for (const name of names) api.put(configMaps, readmeObject(name, name, { labelled: false }))
    },
  })
  const { readmes } = fake.cluster
  for (const name of names) readmes.want('team', name)
  await vi.waitFor(() => {
    expect(names.map((name) => readmes.get('team', name, 'README', 'v1'))).toEqual(names)
  })
  expect(fake.api.requestsFor(byName)).toHaveLength(200)
})

it('does not keep the server from being ready if ConfigMaps may not be read', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => api.faults.push(faultAt(configMaps, (response) => sendStatus(response, 403))),
  })
  fake.cluster.readmes.want('team', 'a')
  await fake.cluster.ready
  await vi.waitFor(() =>
    expect(fake.logs).toContainEqual(
      expect.objectContaining({ msg: 'permission missing', resource: 'configmaps', verb: 'watch' }),
    ),
  )
})

it('polls one that no watch delivers, and drops it when it is deleted', async () => {
  await using fake = await startFakeCluster({
    timings: { ...fastTimings, readmeRefreshMs: 50 },
    prepare: (api) => api.put(configMaps, readmeObject('a', '# A', { labelled: false })),
  })
  const { readmes } = fake.cluster
  readmes.want('team', 'a')
  await vi.waitFor(() => expect(readmes.get('team', 'a', 'README', 'v1')).toBe('# A'))
  fake.api.delete(configMaps, 'a', 'team')
  await vi.waitFor(() => expect(readmes.get('team', 'a', 'README', 'v1')).toBeUndefined())
})

it('does not keep one that was deleted while it was fetched', async () => {
  await using fake = await startFakeCluster()
  const { readmes } = fake.cluster
  fake.api.put(configMaps, readmeObject('first', '# first'))
  readmes.want('team', 'first')
  await vi.waitFor(() => expect(readmes.get('team', 'first', 'README', 'v1')).toBe('# first'))
  fake.api.put(configMaps, readmeObject('a', '# A'))
  // Nobody wants it yet when the watch delivers it.
  fake.api.put(configMaps, readmeObject('first', '# later'))
  await vi.waitFor(() => expect(readmes.get('team', 'first', 'README', 'v1')).toBe('# later'))
  const stored = readmeObject('a', '# A')
  const metadata = { ...stored.metadata, resourceVersion: '1002' }
  fake.api.faults.push(
    faultAt(byName, (response) => {
      fake.api.delete(configMaps, 'a', 'team')
      const body = { metadata: { resourceVersion: '1002' }, items: [{ ...stored, metadata }] }
      setTimeout(() => response.end(JSON.stringify(body)), 100)
    }),
  )
  const asked = fake.api.requestsFor(byName).length
  readmes.want('team', 'a')
  await vi.waitFor(() => expect(fake.api.requestsFor(byName).length).toBeGreaterThan(asked + 1))
  await vi.waitFor(() => expect(readmes.get('team', 'a', 'README', 'v1')).toBeUndefined())
})
