import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { expect, it, onTestFinished } from 'vitest'
import { createLogger, createMetrics } from '../telemetry/telemetry.ts'
import { awaitUpload, awaitWork, ReadyAnswer, type ServingEnv, serve } from './serving.ts'

const keepAliveMs = 400
const anyPort = { host: '127.0.0.1', port: 0 }
const ready = new ReadyAnswer('ready', {}, { route: '/ready' })

/** A server with a ready answer and slow ones, and a way to connect to it. */
async function start(limits: { readonly keepAliveMs: number; readonly idleMs: number }) {
  const server = await serve({
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/never') await new Promise(() => {})
      await sleep(keepAliveMs * 3)
      return new Response('late')
    },
    hot: ({ url }) => (url === '/ready' ? ready : undefined),
    listen: anyPort,
    adminListen: anyPort,
    log: createLogger('silent'),
    metrics: createMetrics({ version: 'test' }),
    waitingFor: () => [],
    ...limits,
  })
  onTestFinished(() => server.stop(0))
  return async (sent: string): Promise<Socket> => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.resume().write(sent)
    return socket
  }
}

const requestOf = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: depot.test\r\n\r\n`

it('closes an idle connection at its deadline, and not earlier', async () => {
  const send = await start({ keepAliveMs, idleMs: 60_000 })
  const started = performance.now()
  const socket = await send(requestOf('/ready'))
  await once(socket, 'close')
  expect(performance.now() - started).toBeGreaterThanOrEqual(keepAliveMs)
})

it('keeps a connection with new requests', async () => {
  const send = await start({ keepAliveMs, idleMs: 60_000 })
  const socket = await send(requestOf('/ready'))
  const started = performance.now()
  let answers = 0
  socket.on('data', () => {
    answers += 1
    // At once: a client on a busy machine may wait longer than it means to.
    if (performance.now() - started < keepAliveMs * 4) socket.write(requestOf('/ready'))
    else socket.end()
  })
  await once(socket, 'close')
  expect(performance.now() - started).toBeGreaterThanOrEqual(keepAliveMs * 4)
  expect(answers).toBeGreaterThan(1)
})

it('keeps a connection whose request waits for its answer, and closes it afterwards', async () => {
  const send = await start({ keepAliveMs, idleMs: 60_000 })
  const socket = await send(requestOf('/late'))
  let received = ''
  socket.on('data', (data) => {
    received += String(data)
  })
  await once(socket, 'close')
  expect(received).toContain('late')
})

it('closes a connection on which a request waits without a byte for too long', async () => {
  const send = await start({ keepAliveMs: 60_000, idleMs: 200 })
  const socket = await send(requestOf('/never'))
  await once(socket, 'close')
  expect(socket.bytesRead).toBe(0)
})

it('leaves a deadline to the second of two requests when the first is over', async () => {
  const send = await start({ keepAliveMs: 60_000, idleMs: 5000 })
  const socket = await send(requestOf('/ready') + requestOf('/never'))
  await once(socket, 'close')
  expect(socket.bytesRead).toBeGreaterThan(0)
})

it('gives most requests little time to arrive, and an upload more', async () => {
  const server = await serve({
    fetch: async (request, env) => {
      const app = new Hono<ServingEnv>().put('/:path', async (c) => {
        if (c.req.param('path') === 'upload') awaitUpload(c)
        return c.text(await c.req.text())
      })
      return await app.fetch(request, env)
    },
    listen: anyPort,
    adminListen: anyPort,
    log: createLogger('silent'),
    metrics: createMetrics({ version: 'test' }),
    waitingFor: () => [],
    requestMs: 200,
  })
  onTestFinished(() => server.stop(0))
  const begin = async (path: string) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(`PUT /${path} HTTP/1.1\r\nHost: depot.test\r\nContent-Length: 2\r\n\r\na`)
    return socket
  }
  const upload = await begin('upload')
  const [refused] = await once(await begin('other'), 'data')
  expect(String(refused)).toMatch(/^HTTP\/1\.1 408 /)
  upload.write('b')
  const [answered] = await once(upload, 'data')
  expect(String(answered)).toMatch(/^HTTP\/1\.1 200 [^]*ab$/)
  upload.destroy()
})

it('keeps a silent connection whose request is worked on, and only that', async () => {
  const ended = Promise.withResolvers<void>()
  const app = new Hono<ServingEnv>()
  app.get('/:work', async (c) => {
    if (c.req.param('work') === 'long') awaitWork(c)
    await ended.promise
    return c.text('done')
  })
  const server = await serve({
    fetch: app.fetch,
    listen: anyPort,
    adminListen: anyPort,
    log: createLogger('silent'),
    metrics: createMetrics({ version: 'test' }),
    waitingFor: () => [],
    idleMs: 1500,
  })
  onTestFinished(() => server.stop(0))
  const long = fetch(`${server.url}/long`)
  await expect(fetch(`${server.url}/usual`)).rejects.toThrow('fetch failed')
  // Its deadline would have passed before, because its request was sent first.
  ended.resolve()
  expect((await long).status).toBe(200)
})
