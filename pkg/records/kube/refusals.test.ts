import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createAuthority } from '../../../hack/testbed/control-plane/certificates.ts'
import { sendStatus, sendTooLarge } from '../../../hack/testbed/control-plane/fake-answers.ts'
import { faultAt } from '../../../hack/testbed/control-plane/fake-api-server.ts'
import {
  fastTimings,
  moduleObject,
  paths,
  startFakeCluster,
} from '../../../hack/testbed/control-plane/fake-cluster.ts'
import { kubeconfigOf } from '../../../hack/testbed/control-plane/kubeconfig.ts'

/** Refusals of an API server before it streams anything. */
const refusals: readonly {
  name: string
  reason: string
  refuse: (response: ServerResponse) => void
}[] = [
  { name: '429', reason: 'RateLimited', refuse: (response) => sendStatus(response, 429) },
  { name: '500', reason: 'ServerError', refuse: (response) => sendStatus(response, 500) },
  {
    name: '503 of a proxy, in HTML',
    reason: 'ServerError',
    refuse: (response) => response.writeHead(503).end('<p>'),
  },
  {
    name: '504 for a resourceVersion it has not seen',
    reason: 'RevisionTooNew',
    refuse: sendTooLarge,
  },
  { name: '401', reason: 'Unauthenticated', refuse: (response) => sendStatus(response, 401) },
  { name: '403', reason: 'Forbidden', refuse: (response) => sendStatus(response, 403) },
  {
    name: 'a redirect',
    reason: 'ServerError',
    refuse: (response) => response.writeHead(302, { location: '/' }).end(),
  },
  {
    name: 'a cut connection',
    reason: 'Unreachable',
    refuse: (response) => response.socket?.destroy(),
  },
  { name: 'no answer at all', reason: 'Timeout', refuse: () => {} },
]

/** A short wait for an answer, where none comes. */
const timingsFor = (reason: string) =>
  reason === 'Timeout' ? { ...fastTimings, headersMs: 2_500 } : fastTimings

describe('a watch that is refused', () => {
  it.each(refusals)(
    'with $name is tried again where it was, without a list',
    async ({ reason, refuse }) => {
      await using fake = await startFakeCluster({
        timings: timingsFor(reason),
        prepare: (api) => api.put(paths.modules, moduleObject('a')),
      })
      await fake.cluster.ready
      fake.api.faults.push(faultAt(paths.modules, refuse))
      fake.api.endWatches()
      fake.api.put(paths.modules, moduleObject('b'))
      await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'b')).toBeDefined(), 15_000)

      const [first, ...again] = fake.api.requestsFor(paths.modules)
      expect(first?.query).toMatchObject({ sendInitialEvents: 'true' })
      expect(again.map((request) => request.query['resourceVersion'])).toEqual(['1001', '1001'])
      expect(await fake.metric('watch_restarts_total', { kind: 'Module', reason })).toBe(1)
      expect(await fake.metric('watch_relists_total', { kind: 'Module', reason })).toBe(0)
    },
  )

  it.each([
    {
      name: '410',
      reason: 'RevisionExpired',
      refuse: (response: ServerResponse) => sendStatus(response, 410, { reason: 'Expired' }),
    },
    {
      name: '400',
      reason: 'BadRequest',
      refuse: (response: ServerResponse) => sendStatus(response, 400),
    },
  ])('with $name lists again', async ({ reason, refuse }) => {
    await using fake = await startFakeCluster()
    await fake.cluster.ready
    fake.api.faults.push(faultAt(paths.modules, refuse))
    fake.api.endWatches()
    await vi.waitFor(() => expect(fake.api.requestsFor(paths.modules)).toHaveLength(3))
    fake.api.put(paths.modules, moduleObject('b'))
    await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'b')).toBeDefined())
    expect(await fake.metric('watch_relists_total', { kind: 'Module', reason })).toBe(1)
  })

  it('with a future resourceVersion lists again after three times', async () => {
    await using fake = await startFakeCluster({
      prepare: (api) => api.put(paths.modules, moduleObject('a')),
    })
    await fake.cluster.ready
    for (let i = 0; i < 3; i += 1) fake.api.faults.push(faultAt(paths.modules, sendTooLarge))
    fake.api.putSilently(paths.modules, moduleObject('a', { provider: 'lost' }))
    fake.api.endWatches()
    await vi.waitFor(() => expect(fake.sink.versions('Module')).toEqual({ 'team/a': '1002' }))
    expect(
      await fake.metric('watch_restarts_total', { kind: 'Module', reason: 'RevisionTooNew' }),
    ).toBe(3)
    expect(
      await fake.metric('watch_relists_total', { kind: 'Module', reason: 'RevisionTooNew' }),
    ).toBe(1)
  })

  it('waits as long as Retry-After says', async () => {
    await using fake = await startFakeCluster()
    await fake.cluster.ready
    fake.api.faults.push(
      faultAt(paths.modules, (response) => sendStatus(response, 429, {}, { 'retry-after': '1' })),
    )
    fake.api.endWatches()
    await vi.waitFor(() => expect(fake.api.requestsFor(paths.modules)).toHaveLength(3), 15_000)
    const [, refused, next] = fake.api.requestsFor(paths.modules)
    expect((next?.receivedMs ?? 0) - (refused?.receivedMs ?? 0)).toBeGreaterThan(950)
  })
})

describe('a first list that is refused', () => {
  it.each(refusals)('with $name is retried until it succeeds', async ({ reason, refuse }) => {
    await using fake = await startFakeCluster({
      timings: timingsFor(reason),
      prepare: (api) => {
        api.put(paths.modules, moduleObject('a'))
        api.faults.push(faultAt(paths.modules, refuse), faultAt(paths.modules, refuse))
      },
    })
    expect(await fake.metric('catalog_synced', { kind: 'Module' })).toBe(0)
    await fake.cluster.ready
    expect(fake.sink.versions('Module')).toEqual({ 'team/a': '1001' })
  })

  it.each([
    { code: 401, reason: 'Unauthenticated' },
    { code: 403, reason: 'Forbidden' },
  ])(
    'with $code names the verb, the resource and the identity that lacks permission',
    async ({ code, reason }) => {
      const claims = Buffer.from('{"sub":"system:serviceaccount:x:depot"}').toString('base64url')
      const message = 'the words of the API server'
      const refuse = faultAt(paths.versions, (response) => sendStatus(response, code, { message }))
      await using fake = await startFakeCluster({
        kubeconfig: ({ url, ca }) => kubeconfigOf({ url, ca, token: `e30.${claims}.s` }),
        prepare: (api) => api.faults.push(refuse, refuse, refuse),
      })
      await fake.cluster.ready
      const lines = fake.logs.filter((line) => line.msg === 'permission missing')
      // Every third list is requested in pages.
      expect(lines.map((line) => line['verb'])).toEqual(['watch', 'watch', 'list'])
      expect(lines[0]).toMatchObject({
        level: 'error',
        resource: 'versions.depot.internal',
        identity: 'system:serviceaccount:x:depot',
        reason,
        message,
      })
    },
  )

  it('by an untrusted certificate keeps the server from being ready until it is trusted', async () => {
    const authority = { file: '', right: '' }
    await using fake = await startFakeCluster({
      kubeconfig: ({ url, ca, directory }) => {
        Object.assign(authority, { file: join(directory, 'ca.crt'), right: ca })
        writeFileSync(authority.file, createAuthority(join(directory, 'other')).cert)
        return kubeconfigOf({ url, caFile: authority.file, token: 't' })
      },
    })
    await vi.waitFor(() => {
      const failed = fake.logs.filter((line) => line.msg === 'watch failed')
      expect(failed.length).toBeGreaterThan(6)
      expect(failed[0]).toMatchObject({ reason: 'Unreachable' })
      expect(JSON.stringify(failed[0])).toContain('certificate')
    })
    expect(await fake.metric('catalog_synced', { kind: 'Module' })).toBe(0)
    writeFileSync(authority.file, authority.right)
    await fake.cluster.ready
  })
})

describe('custom resources that are not defined', () => {
  it('count as empty for Depot and GroupBinding, until they are defined', async () => {
    await using fake = await startFakeCluster({
      prepare: (api) => {
        api.missing.add(paths.depots)
        api.missing.add(paths.groupBindings)
      },
    })
    await fake.cluster.ready
    const missing = fake.logs.filter((line) => line.msg === 'custom resource definition missing')
    expect(missing.map((line) => line['resource'])).toContain('depots.depot.internal')

    fake.api.missing.clear()
    const binding = { kind: 'GroupBinding', metadata: { name: 'g', namespace: 'depot-system' } }
    fake.api.put(paths.groupBindings, { ...binding, spec: { expression: 'true' } })
    await vi.waitFor(() => expect(fake.sink.get('GroupBinding', 'depot-system', 'g')).toBeDefined())
  })

  it('keep the server from being ready for the other kinds', async () => {
    await using fake = await startFakeCluster({ prepare: (api) => api.missing.add(paths.modules) })
    await vi.waitFor(() => expect(fake.api.requestsFor(paths.modules).length).toBeGreaterThan(3))
    expect(await fake.metric('catalog_synced', { kind: 'Module' })).toBe(0)
    fake.api.missing.clear()
    await fake.cluster.ready
  })

  it('do not remove served objects if they are removed later', async () => {
    await using fake = await startFakeCluster({
      prepare: (api) => api.put(paths.modules, moduleObject('a')),
    })
    await fake.cluster.ready
    fake.api.missing.add(paths.modules)
    fake.api.endWatches()
    await vi.waitFor(() => expect(fake.api.requestsFor(paths.modules).length).toBeGreaterThan(3))
    expect(fake.sink.versions('Module')).toEqual({ 'team/a': '1001' })
  })
})
