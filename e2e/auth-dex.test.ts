import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { clis, Workspace } from '../hack/testbed/cli/cli.ts'
import { terraformLogin } from '../hack/testbed/cli/login.ts'
import { startProcess } from '../hack/testbed/object-stores/process.ts'
import { Client } from '../hack/testbed/oidc/oidc.ts'
import { blockBelow, host, LoginRegistry } from './login.fixture.ts'

/*
 * A real Dex behind the broker proxy, configured as docs/authentication.md says, but for what is of this test: its address,
 * its memory, and a connector that lets every caller in as one person of the group `authors`.
 */

const program = inject('dex')
const issuer = `https://${host}/broker`
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
        issuer,
        storage: { type: 'memory' },
        web: { http: `127.0.0.1:${port}` },
        oauth2: { ...oauth2, grantTypes: [...oauth2.grantTypes, 'client_credentials'] },
        connectors: [{ type: 'mockCallback', id: 'mock', name: 'Mock' }],
      }
      writeFileSync(file, stringify({ ...config, ...own }))
      return `serve ${file}`
    })
    const flags = ['--oidc-issuer-url', issuer, '--oidc-client-id', 'depot']
    const broker = `http://127.0.0.1:${dex.port}`
    await login.start('authors', [...flags, '--broker-proxy-url', broker])
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
      `${name} installs nothing before login, and what the group may have after it`,
      async () => {
        const workspace = new Workspace(path, login.url, login.configuration, login.environment)
        const before = await workspace.run('init')
        expect(before).toMatchObject({
          code: 1,
          output: expect.stringMatching(/login|401|unauthorized/i) as string,
        })
        const answer = await terraformLogin({
          terraform: path,
          host,
          home: dirname(workspace.dir),
          environment: login.environment,
          browse: (url) => client.browse(url),
        })
        expect(answer).toMatchObject({
          code: 0,
          output: expect.stringContaining('has obtained and saved an API token') as string,
        })
        expect(await workspace.apply()).toEqual({ message: 'Hello, login, from provider 1.1.0.' })
      },
    )
  }

  it('a person logs in with a device code', async () => {
    const post = async (path: string, form: Record<string, string>) =>
      JSON.parse((await client.send(`${issuer}${path}`, form)).text) as Record<string, string>
    const scope = 'openid profile email groups'
    const begun = await post('/device/code', { client_id: 'depot', scope })
    await client.browse(begun['verification_uri_complete'] ?? '')
    const tokens = await post('/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: begun['device_code'] ?? '',
      client_id: 'depot',
    })
    for (const token of [tokens['id_token'], tokens['access_token']]) {
      const { status, text } = await client.send(`https://${host}/depot/ui/v1/whoami`, undefined, {
        authorization: `Bearer ${token}`,
      })
      expect([status, JSON.parse(text)]).toEqual([
        200,
        expect.objectContaining({ kind: 'user', groups: ['authors'] }),
      ])
    }
  })
})
