import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { answerErrors } from '../../base/serving/serving.ts'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { createForwarding } from './forwarding.ts'

it('does not delay webhooks of one Depot because of those of another', async () => {
  const held: ServerResponse[] = []
  const controller = createServer(({ url = '' }, outgoing) => {
    if (url.endsWith('/busy')) held.push(outgoing)
    else outgoing.end('{}')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void controller.close())
  await once(controller, 'listening')
  const { port } = controller.address() as AddressInfo
  const forwarding = createForwarding({
    url: `http://127.0.0.1:${port}`,
    trustProxy: false,
    catalog: { parentAt: () => undefined },
    hasCallers: true,
  })
  onTestFinished(() => forwarding.close())
  const send = async (path: string): Promise<number> => {
    const url = `/depot/hooks/github/team/${path}`
    const answer = await forwarding.routes.request(url, { method: 'POST', body: '{}' })
    await answer.text()
    return answer.status
  }
  const busy = Array.from({ length: 80 }, () => send('busy'))
  await expect.poll(() => held.length).toBe(4)
  expect(await send('quiet')).toBe(200)
  expect(held).toHaveLength(4)
  // Each answered webhook frees a slot for a waiting one.
  const answering = setInterval(() => {
    for (const outgoing of held.splice(0)) outgoing.end('{}')
  }, 5)
  onTestFinished(() => clearInterval(answering))
  expect(new Set(await Promise.all(busy))).toEqual(new Set([200]))
})

describe('a webhook', () => {
  const opened = async () => {
    const bodies: string[] = []
    const controller = createServer((incoming, outgoing) => {
      let body = ''
      incoming.on('data', (chunk) => void (body += String(chunk)))
      incoming.on('end', () => {
        bodies.push(body)
        outgoing.end('{}')
      })
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void controller.close())
    await once(controller, 'listening')
    const { port } = controller.address() as AddressInfo
    const forwarding = createForwarding({
      url: `http://127.0.0.1:${port}`,
      trustProxy: false,
      catalog: { parentAt: () => undefined },
      hasCallers: true,
    })
    onTestFinished(() => forwarding.close())
    answerErrors(forwarding.routes, createLogger('silent'), '')
    const send = async (body: NonNullable<RequestInit['body']>): Promise<number> => {
      const init = { method: 'POST', body, duplex: 'half' } as RequestInit
      const answer = await forwarding.routes.request('/depot/hooks/github/team/main', init)
      await answer.text()
      return answer.status
    }
    return { bodies, send }
  }

  it('is not delayed by slow senders without a secret', async () => {
    const { bodies, send } = await opened()
    const ends: (() => void)[] = []
    const slow = Array.from({ length: 12 }, () =>
      send(
        new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(Buffer.from('{'))
            ends.push(() => {
              controller.enqueue(Buffer.from('}'))
              controller.close()
            })
          },
        }),
      ),
    )
    await vi.waitUntil(() => ends.length === 12)
    expect(await send('{"a":1}')).toBe(200)
    expect(bodies).toEqual(['{"a":1}'])
    for (const end of ends) end()
    expect(new Set(await Promise.all(slow))).toEqual(new Set([200]))
    expect(new Set(bodies)).toEqual(new Set(['{"a":1}', '{}']))
  })

  it('may have one MiB, and all together have a limit', async () => {
    const { send } = await opened()
    const mebibyte = Buffer.alloc(2 ** 20)
    const open = new AbortController()
    const endless = () => {
      const left = new AbortController()
      return new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(mebibyte)
          const { signal } = left
          open.signal.addEventListener('abort', () => controller.close(), { signal })
        },
        cancel: () => left.abort(),
      })
    }
    expect(await send(mebibyte)).toBe(200)
    expect(await send(Buffer.alloc(2 ** 20 + 1))).toBe(413)
    const held = Array.from({ length: 32 }, () => send(endless()))
    await setImmediate()
    // The webhook that has been arriving for the longest time is dropped.
    expect(await send('{}')).toBe(200)
    expect(await held[0]).toBe(503)
    expect(await send(mebibyte)).toBe(200)
    open.abort()
    const answers = await Promise.all(held)
    expect(answers.filter((status) => status === 503)).toHaveLength(1)
    expect(await send('{}')).toBe(200)
  })
})
