import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

const dir = mkdtempSync(join(tmpdir(), 'depot-shapes-'))
const tls = { certPath: join(dir, 'cert.pem'), keyPath: join(dir, 'key.pem') }
beforeAll(() => {
  const files = ['-keyout', tls.keyPath, '-out', tls.certPath]
  const args = ['req', '-x509', '-newkey', 'ed25519', '-nodes', '-subj', '/CN=localhost', ...files]
  execFileSync('openssl', args, { stdio: 'pipe' })
})
afterAll(() => rmSync(dir, { recursive: true }))

const at = (file: string) => JSON.stringify(join(import.meta.dirname, file))

/** Prints what a late request is made of, after so many requests, a collection, one request, and another collection. */
const program = (isTls: boolean, before: number) => `
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect } from 'node:net'
import { connect as connectEncrypted } from 'node:tls'
import { setImmediate as turn } from 'node:timers/promises'
import { collectGarbage } from ${at('../fast/garbage.fixture.ts')}
import { createLogger, createMetrics } from ${at('../telemetry/telemetry.ts')}
import { ReadyAnswer, serve } from ${at('serving.ts')}
const isFast = new Function('object', 'return %HasFastProperties(object)')
let seen
subscribe('http.server.response.finish', ({ request, response, socket }) => {
  seen = { request: isFast(request), response: isFast(response), socket: isFast(socket) }
})
let closed
subscribe('net.server.socket', ({ socket }) => {
  closed = once(socket, 'close')
})
const answer = new ReadyAnswer('text', {}, { route: '/' })
const { url } = await serve({
  fetch: () => new Response(),
  hot: () => answer,
  ${isTls ? `tls: ${JSON.stringify(tls)},` : ''}
  listen: { host: '127.0.0.1', port: 0 },
  adminListen: { host: '127.0.0.1', port: 0 },
  log: createLogger('silent'),
  metrics: createMetrics({ version: 'test' }),
  waitingFor: () => [],
})
const { port } = new URL(url)
const ask = async (times) => {
  for (let time = 0; time < times; time += 1) {
    const to = { port: Number(port), host: '127.0.0.1', rejectUnauthorized: false }
    const socket = ${isTls ? 'connectEncrypted' : 'connect'}(to)
    socket.write('GET / HTTP/1.1\\r\\nHost: depot.test\\r\\n\\r\\n')
    await once(socket, 'data')
    socket.destroy()
    await closed
    await turn()
  }
}
for (const times of [${before}, 1]) {
  await ask(times)
  collectGarbage()
}
await ask(20)
console.log(JSON.stringify(seen))
process.exit()
`

it.each([false, true].flatMap((isTls) => [2, 5].map((before) => ({ isTls, before }))))(
  'keeps later requests cheap after a collection among the first $before, encrypted $isTls',
  ({ isTls, before }) => {
    const args = ['--allow-natives-syntax', '--input-type=module', '--eval', program(isTls, before)]
    const printed = execFileSync(process.execPath, args, { encoding: 'utf8' })
    expect(JSON.parse(printed)).toEqual({ request: true, response: true, socket: true })
  },
)
