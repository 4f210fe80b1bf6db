import { connect, type Socket } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { startExplorer } from './explorer.fixture.ts'

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** Opens a connection from an address of this machine, and requests a path. */
function ask(url: string, path: string, from: string): Socket {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress: from })
  socket.on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: depot.test\r\n\r\n`)
  sockets.push(socket)
  return socket
}

it('answers all others while 1,000 clients of one address read nothing', async () => {
  const beginning = Buffer.alloc(1_000_000, 'x')
  await using explorer = await startExplorer((request, response) => {
    if (request.url === '/depot/large') response.write(beginning)
    else response.end('{}')
  })
  for (let n = 0; n < 1000; n += 1) ask(explorer.url, '/depot/large', '127.0.0.1').pause()
  await vi.waitFor(() => expect(explorer.reached.length).toBe(250), 120_000)
  const answer = await new Promise((resolve) => {
    ask(explorer.url, '/depot/x', '127.0.0.2').once('data', (data) => resolve(String(data)))
  })
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
})
