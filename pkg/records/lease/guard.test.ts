import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { openCluster } from '../kube/kube.ts'
import { guarded } from './election.ts'

it('a waiting write is not sent if the lease is lost meanwhile', async () => {
  const written: string[] = []
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await text(incoming)
    written.push(`${incoming.method} ${incoming.headers['content-length']} ${body.length}`)
    const object = { name: 'written', namespace: 'team', uid: '1', resourceVersion: '1' }
    outgoing.setHeader('content-type', 'application/json')
    outgoing.end(JSON.stringify({ kind: 'ConfigMap', metadata: object }))
  }
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const credentials = { server: `http://127.0.0.1:${port}`, headers: {}, tls: {} }
  let waiting = Promise.resolve()
  let isHeld = true
  const connection = {
    credentials: () => waiting.then(() => credentials),
    reload: () => undefined,
    recheck: () => undefined,
  }
  const log = createLogger('silent')
  const metrics = createMetrics({ version: 'test' })
  const cluster = openCluster({ connection, apiGroup: 'depot.internal', log, metrics })
  const client = guarded(cluster.client, () => isHeld)
  const metadata = { name: 'written', namespace: 'team' }
  const apply = () => client.apply({ kind: 'ConfigMap', metadata, data: { é: 'ü' } }, 'test')

  await apply()
  expect(written).toHaveLength(1)
  const [, said, length] = written[0]?.split(' ') ?? []
  // Characters of two bytes.
  expect(Number(said)).toBe(Number(length) + 2)

  const asked = Promise.withResolvers<void>()
  waiting = asked.promise
  const late = apply()
  isHeld = false
  asked.resolve()
  await expect(late).rejects.toMatchObject({ reason: 'NotHeld' })
  isHeld = true
  await apply()
  expect(written).toHaveLength(2)
  await cluster.close()
  server.close()
})
