import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { createLogger } from '../telemetry/telemetry.ts'
import { refuseMalformed } from './malformed.ts'

const request = 'GET / HTTP/1.1\r\nHost: depot.test\r\n\r\n'

/** Sends a request, and malformed input once the client has received `until`; returns everything it receives. */
async function received(
  respond: (response: ServerResponse) => void,
  until: string,
): Promise<string> {
  const server = createServer((_, response) => respond(response))
  server.on('clientError', refuseMalformed(createLogger('error', { write: () => true })))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('latin1')
  let text = ''
  let isSent = false
  socket.on('data', (more: string) => {
    text += more
    if (isSent || !text.endsWith(until)) return
    isSent = true
    socket.write('this is not a request\r\n\r\n')
  })
  socket.on('error', () => {})
  socket.write(request)
  await once(socket, 'close')
  server.close()
  return text
}

it('is refused after an answer that has ended', async () => {
  const text = await received((response) => response.end('all of it'), 'all of it')
  expect(text).toMatch(/all of itHTTP\/1\.1 400 Bad Request\r\n.*"this is not an HTTP request"/s)
})

it('ends the connection in the middle of an answer, and adds nothing to it', async () => {
  const begin = (response: ServerResponse) => {
    response.writeHead(200, { 'Content-Length': 1_000 })
    response.write('a part')
  }
  expect(await received(begin, 'a part')).toMatch(/\r\n\r\na part$/)
})

it('closes the connection of a slow request, even if the client goes on sending', async () => {
  const limits = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 50 }
  const server = createServer(limits)
  const log = createLogger('error', { write: () => true })
  server.on('clientError', refuseMalformed(log, 300))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {}).resume()
  socket.write('GET / HTTP/1.1\r\nX-Slow: ')
  const sending = setInterval(() => socket.write('x'), 50)
  // An error may come first, at which `once` would throw.
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(sending)
  expect(socket.bytesRead).toBeGreaterThan(0)
  server.close()
})
