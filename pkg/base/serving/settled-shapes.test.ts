import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { get as getPlain, type IncomingMessage } from 'node:http'
import { get as getEncrypted } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
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

/** Tells of what its answer is made of; collects all garbage once nobody waits for one, and says so. */
const program = (isTls: boolean) => `
import { collectGarbage } from ${at('../memory/garbage.fixture.ts')}
import { createLogger, createMetrics } from ${at('../telemetry/telemetry.ts')}
import { serve } from ${at('serving.ts')}
const isFast = new Function('object', 'return %HasFastProperties(object)')
const collect = () => {
  collectGarbage()
  console.log('collected')
}
const { url } = await serve({
  fetch(_, { incoming, outgoing }) {
    if (incoming.url === '/collect') incoming.socket.once('close', () => setImmediate(collect))
    const [request, response, socket] = [incoming, outgoing, incoming.socket].map(isFast)
    return Response.json({ request, response, socket })
  },
  ${isTls ? `tls: ${JSON.stringify(tls)},` : ''}
  listen: { host: '127.0.0.1', port: 0 },
  adminListen: { host: '127.0.0.1', port: 0 },
  log: createLogger('silent'),
  metrics: createMetrics({ version: 'test' }),
  waitingFor: () => [],
})
console.log(url)
`

it.each([
  [false, 4],
  [false, 5],
  [true, 4],
  [true, 5],
])(
  'requests stay cheap where all garbage is collected after some: encrypted %s, after %i',
  async (isTls, before) => {
    const args = ['--allow-natives-syntax', '--input-type=module', '--eval', program(isTls)]
    const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [printed] = (await once(server.stdout, 'data')) as [Buffer]
      const ask = async (path: string) => {
        const url = new URL(path, String(printed))
        const options = { agent: false, rejectUnauthorized: false }
        const asked = isTls ? getEncrypted(url, options) : getPlain(url, options)
        const [answer] = (await once(asked, 'response')) as [IncomingMessage]
        return json(answer)
      }
      for (let count = 0; count < before; count += 1) await ask('/')
      for (let round = 0; round < 2; round += 1) {
        const collected = once(server.stdout, 'data')
        await ask('/collect')
        await collected
      }
      for (let count = 0; count < 20; count += 1) await ask('/')
      expect(await ask('/')).toEqual({ request: true, response: true, socket: true })
    } finally {
      server.kill()
    }
  },
)
