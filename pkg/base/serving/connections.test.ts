import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Connections } from './connections.ts'

const keepAliveMs = 400

/** A server whose connections are watched, and how one connects to it. */
async function start(connections: Connections, listener: RequestListener) {
  const server = createServer({ keepAliveTimeout: 0 }, listener)
  connections.watch(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return async (sent: string): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1' })
    await once(socket, 'connect')
    socket.resume().write(sent)
    return socket
  }
}

const request = 'GET / HTTP/1.1\r\nHost: depot.test\r\n\r\n'

it('closes a connection that asks for nothing any more, and not before its time', async () => {
  const send = await start(
    new Connections({ keepAliveMs, idleMs: 60_000 }),
    (_request, response) => void response.end('answer'),
  )
  const started = performance.now()
  const socket = await send(request)
  await once(socket, 'close')
  expect(performance.now() - started).toBeGreaterThanOrEqual(keepAliveMs)
})

it('keeps a connection that asks again and again', async () => {
  const send = await start(
    new Connections({ keepAliveMs, idleMs: 60_000 }),
    (_request, response) => void response.end('answer'),
  )
  const socket = await send(request)
  const started = performance.now()
  let answers = 0
  socket.on('data', () => {
    answers += 1
    // At once: a client on a busy machine may wait longer than it means to.
    if (performance.now() - started < keepAliveMs * 4) socket.write(request)
    else socket.end()
  })
  await once(socket, 'close')
  expect(performance.now() - started).toBeGreaterThanOrEqual(keepAliveMs * 4)
  expect(answers).toBeGreaterThan(1)
})

it('keeps a connection whose request waits for its answer, and closes it when that is over', async () => {
  const connections = new Connections({ keepAliveMs, idleMs: 60_000 })
  const send = await start(connections, ({ socket }, response) => {
    const release = connections.hold(socket)
    setTimeout(() => {
      response.end('answer')
      release()
    }, keepAliveMs * 3)
  })
  const socket = await send(request)
  let received = ''
  socket.on('data', (data) => {
    received += String(data)
  })
  await once(socket, 'close')
  expect(received).toContain('answer')
})

it('closes a connection on which a request waits without a byte for too long', async () => {
  const connections = new Connections({ keepAliveMs: 60_000, idleMs: 200 })
  const send = await start(connections, ({ socket }) => void connections.hold(socket))
  const socket = await send(request)
  await once(socket, 'close')
  expect(socket.bytesRead).toBe(0)
})

it('leaves a deadline to the second of two requests when the first is over', async () => {
  const connections = new Connections({ keepAliveMs: 60_000, idleMs: 200 })
  let count = 0
  const send = await start(connections, ({ socket }, response) => {
    const release = connections.hold(socket)
    count += 1
    if (count > 1) return
    response.end('first')
    release()
  })
  const socket = await send(request + request)
  await once(socket, 'close')
  expect(socket.bytesRead).toBeGreaterThan(0)
})
