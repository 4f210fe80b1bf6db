import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { request } from 'undici'
import { afterAll, expect, it, vi } from 'vitest'
import { startExplorer } from '../../hack/testbed/explorer/explorer.ts'
import { writeBarePages } from '../../hack/testbed/explorer/pages.ts'
import { writeCertificate } from '../../hack/testbed/server/certificate.ts'

const folder = mkdtempSync(join(tmpdir(), 'depot-ui-ca-'))
const dist = writeBarePages(join(folder, 'pages'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Starts a server with a self-signed certificate, and the explorer in front of it. */
async function setUp(certifiedName: string, flags: readonly string[] = []) {
  const pair = await writeCertificate(folder, certifiedName)
  const server = createServer(pair, (_, response) => response.end('{}'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const explorer = await startExplorer({
    serverUrl: `https://localhost:${port}`,
    flags: ['--dist-path', dist, ...flags],
  })
  return {
    explorer,
    server,
    cert: pair.cert,
    async statusFor(host: string) {
      const url = `${explorer.url}/.well-known/terraform.json`
      const answer = await request(url, { headers: { host } })
      await answer.body.dump()
      return answer.statusCode
    },
    async [Symbol.asyncDispose]() {
      await explorer.stop()
      server.close()
      server.closeAllConnections()
    },
  }
}

function writeCa(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
  return path
}

it('checks the certificate against the name of the server, whatever host the browser asked for', async () => {
  const ca = join(folder, 'own.crt')
  await using behind = await setUp('localhost', ['--server-ca-path', ca])
  writeCa('own.crt', behind.cert)
  await vi.waitFor(async () => expect(await behind.statusFor('depot.example.com')).toBe(200))
})

it('accepts a certificate for its base URL, but not for a host that only the caller names', async () => {
  const flags = ['--server-ca-path', join(folder, 'public.crt')]
  const base = '--base-url=https://depot.example.com'
  for (const [more, status] of [
    [[base], 200],
    [[], 502],
  ] as const) {
    await using behind = await setUp('depot.example.com', [...flags, ...more])
    writeCa('public.crt', behind.cert)
    await vi.waitFor(async () => {
      await behind.statusFor('localhost')
      expect(behind.explorer.log.join('')).toContain('server reloaded')
    })
    expect(await behind.statusFor('depot.example.com')).toBe(status)
  }
})

it('reads the authorities again after a rotation, and starts without the file', async () => {
  const path = join(folder, 'rotated.crt')
  await using behind = await setUp('localhost', ['--server-ca-path', path])
  expect(behind.explorer.log.join('')).toContain('system authorities are trusted')
  expect(await behind.statusFor('localhost')).toBe(502)
  const next = await writeCertificate(folder, 'localhost')
  for (const pair of [behind, next]) {
    if (pair === next) {
      behind.server.setSecureContext(next)
      behind.server.closeAllConnections()
    }
    writeCa('rotated.crt', pair.cert)
    await vi.waitFor(async () => expect(await behind.statusFor('localhost')).toBe(200))
  }
})
