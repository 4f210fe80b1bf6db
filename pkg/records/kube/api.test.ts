import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { type Api, createApi } from './kube.ts'

interface Asked {
  readonly method: string
  readonly url: string
  readonly type: string | undefined
  readonly body: string
}
type Answer = readonly [status: number, body: object | string, headers?: Record<string, string>]

let asked: Asked[]
/** Answers in order. The last one is repeated. */
let answers: Answer[]
let api: Api

beforeEach(async () => {
  asked = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request
    asked.push({ method, url, type: headers['content-type'], body: await text(request) })
    const [status, body, more] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [500, '']
    response.writeHead(status, more).end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const server = createServer((request, response) => void answer(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`
  api = createApi({
    credentials: () => Promise.resolve({ server: url, headers: {}, tls: {} }),
    reload: () => undefined,
    recheck: () => undefined,
  })
  onTestFinished(async () => {
    await api.close()
    server.close()
  })
})

it('reads a list page by page', async () => {
  answers = [
    [200, { items: [{ a: 1 }], metadata: { continue: 'next page' } }],
    [200, { items: [{ a: 2 }], metadata: {} }],
  ]
  expect(await api.list('/apis/g/v1/things')).toEqual([{ a: 1 }, { a: 2 }])
  expect(asked.map(({ url }) => url)).toEqual([
    '/base/apis/g/v1/things?limit=500&continue=',
    '/base/apis/g/v1/things?limit=500&continue=next%20page',
  ])
})

it('sends a body with its type, and sends it again while the server is busy', async () => {
  answers = [
    [429, {}, { 'retry-after': '1' }],
    [503, 'starting'],
    [200, { done: true }],
  ]
  const type = 'application/apply-patch+yaml'
  expect(await api.request('PATCH', '/x', { a: 1 }, type)).toEqual({ done: true })
  const sent = { method: 'PATCH', url: '/base/x', type, body: '{"a":1}' }
  expect(asked).toEqual([sent, sent, sent])
})

it('names the request and the reason of a refusal, without a retry', async () => {
  answers = [[403, { kind: 'Status', message: 'things is forbidden' }]]
  await expect(api.request('GET', '/x')).rejects.toMatchObject({
    reason: 'Forbidden',
    message: 'GET /x: things is forbidden; give its Role or ClusterRole this right',
  })
  answers = [[404, {}]]
  await expect(api.request('GET', '/x')).rejects.toMatchObject({ reason: 'NotFound' })
  expect(asked).toHaveLength(2)
})
