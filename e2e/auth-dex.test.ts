import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { clis } from '../hack/testbed/cli/cli.ts'
import { startProcess } from '../hack/testbed/object-stores/process.ts'
import { Client } from '../hack/testbed/oidc/oidc.ts'
import {
  binding,
  blockBelow,
  brokerIssuer,
  installAroundLogin,
  LoginRegistry,
  logInByDevice,
  onlyAfterLogin,
} from './login.fixture.ts'

/*
 * A real Dex behind the broker proxy, configured as in docs/authentication.md. The test only adds its address, its storage in
 * memory, and a connector that logs every caller in as one person of the group `authors`.
 */

const program = inject('dex')
const dir = mkdtempSync(join(tmpdir(), 'depot-dex-'))
const login = new LoginRegistry()
let dex: Awaited<ReturnType<typeof startProcess>>
let client: Client

describe.skipIf(program === undefined)('Dex', () => {
  beforeAll(async () => {
    const config = parse(blockBelow('Dex', 'yaml')) as { oauth2: { grantTypes: string[] } }
    const { oauth2 } = config
    const file = join(dir, 'dex.yaml')
    dex = await startProcess(program ?? '', (port) => {
      const own = {
        issuer: brokerIssuer,
        storage: { type: 'memory' },
        web: { http: `127.0.0.1:${port}` },
        oauth2: { ...oauth2, grantTypes: [...oauth2.grantTypes, 'client_credentials'] },
        connectors: [{ type: 'mockCallback', id: 'mock', name: 'Mock' }],
      }
      writeFileSync(file, stringify({ ...config, ...own }))
      return `serve ${file}`
    })
    await login.write([binding('people', '"authors" in groups')])
    const issuer = ['--oidc-issuer-url', brokerIssuer, '--oidc-client-id', 'depot']
    await login.start(...issuer, '--broker-proxy-url', `http://127.0.0.1:${dex.port}`)
    client = new Client(login.url)
  })
  afterAll(async () => {
    await client?.close()
    await dex?.stop()
    await login.stop()
    rmSync(dir, { recursive: true })
  })

  for (const { name, path } of clis) {
    it.skipIf(path === undefined)(
      `${name} installs nothing before login, and afterwards only modules that its group may read`,
      async () =>
        expect(await installAroundLogin(login, { cli: path, client })).toEqual(onlyAfterLogin),
    )
  }

  it('a person logs in with a device code', async () => {
    const whoami = {
      status: 200,
      body: expect.objectContaining({ kind: 'user', groups: ['authors'] }) as object,
    }
    expect(await logInByDevice(client, '/device/code')).toEqual([whoami, whoami])
  })
})
