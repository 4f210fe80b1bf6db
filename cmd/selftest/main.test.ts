import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }

let registry: Server
const valkey = createTcpServer((socket) => {
  socket.on('data', (data) =>
    socket.write(data.toString() === 'PING\r\n' ? '+PONG\r\n' : '-ERR\r\n'),
  )
})
let discovery = '{"modules.v1":"/depot/modules/v1/"}'
let isReady = true

beforeAll(async () => {
  registry = createServer(({ url }, response) => {
    if (url === '/.well-known/terraform.json') response.end(discovery)
    else
      response.writeHead(url === '/readyz' && isReady ? 200 : 503).end('the caches are not filled')
  })
  await Promise.all([
    once(registry.listen(0, '127.0.0.1'), 'listening'),
    once(valkey.listen(0, '127.0.0.1'), 'listening'),
  ])
})
afterAll(() => {
  registry.close()
  valkey.close()
})

const portOf = (server: { address(): unknown }): number =>
  (server.address() as { port: number }).port

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

async function selftest(...args: readonly string[]): Promise<Ended> {
  try {
    const line = ['cmd/selftest/main.ts', ...args]
    return { code: 0, ...(await promisify(execFile)(process.execPath, line)) }
  } catch (thrown) {
    return thrown as Ended
  }
}

async function all(): Promise<Ended> {
  const url = `http://127.0.0.1:${portOf(registry)}`
  return selftest(url, `--admin-url=${url}`, `--valkey-addr=127.0.0.1:${portOf(valkey)}`)
}

it('prints a line for each check, and fails if one fails', async () => {
  const { code, stdout } = await all()
  // This test runs outside a cluster.
  expect(code).toBe(1)
  expect(stdout).toMatch(
    /^ok +discovery at .* names the module registry\nok +server at .* is ready\n/,
  )
  expect(stdout).toMatch(
    /failed +API server, group depot\.internal, no service account token is mounted\n/,
  )
  expect(stdout).toMatch(/ok +Valkey at .* answers PING\n$/)
})

it('prints the answer that it got and the one that it expected', async () => {
  discovery = '{}'
  isReady = false
  const { stdout } = await all()
  expect(stdout).toContain('does not name a module registry: {}')
  expect(stdout).toContain('answered 503, expected 200: the caches are not filled')
})

it('prints why it could not connect', async () => {
  const { code, stdout } = await selftest('http://127.0.0.1:1', '--valkey-addr=127.0.0.1:1')
  expect(code).toBe(1)
  expect(stdout).toMatch(/failed +discovery at http:\/\/127\.0\.0\.1:1 .*(ECONNREFUSED|bad port)/)
  expect(stdout).toMatch(/failed +Valkey at 127\.0\.0\.1:1 .*ECONNREFUSED/)
})

it('prints its version and its usage, and refuses unknown flags in one sentence', async () => {
  expect(await selftest('--version')).toMatchObject({ code: 0, stdout: `${packageJson.version}\n` })
  expect((await selftest('--help')).stdout).toMatch(/^usage: selftest URL/)
  const { code, stderr } = await selftest('--nonsense')
  expect(code).toBe(2)
  expect(stderr).toMatch(/^selftest: Unknown option '--nonsense'.*\nusage: /)
})

it('trusts the system while the file of --ca-path is missing', async () => {
  const { stdout } = await selftest('https://127.0.0.1:1', '--ca-path=/nonexistent/ca.crt')
  expect(stdout).toMatch(/failed +discovery at .*ECONNREFUSED/)
})

it('requires an address', async () => {
  expect((await selftest()).code).toBe(2)
})
