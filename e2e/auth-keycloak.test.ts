import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { clis, Workspace } from '../hack/testbed/cli/cli.ts'
import { terraformLogin } from '../hack/testbed/cli/login.ts'
import { Keycloak } from '../hack/testbed/oidc/keycloak.ts'
import { Client } from '../hack/testbed/oidc/oidc.ts'
import { blockBelow, host, LoginRegistry } from './login.fixture.ts'

/* A real Keycloak, set up word by word as docs/authentication.md says. */

const program = inject('keycloak')
const secret = 'a secret of a program'
const login = new LoginRegistry()
let keycloak: Keycloak
let client: Client

describe.skipIf(program === undefined)('Keycloak', () => {
  beforeAll(async () => {
    const person = JSON.parse(blockBelow('Keycloak', 'json')) as object
    const ci = JSON.parse(blockBelow('Keycloak', 'json program')) as object
    const bare = { clientId: 'bare', serviceAccountsEnabled: true }
    keycloak = await Keycloak.start(program ?? '', [
      person,
      { ...ci, secret },
      { ...bare, standardFlowEnabled: false, secret },
    ])
    const scopes = ['--oidc-scopes', 'openid,profile,email']
    const issuer = ['--oidc-issuer-url', keycloak.issuer, '--oidc-client-id', 'depot']
    await login.start('platform', [...issuer, ...scopes])
    client = new Client(keycloak.url)
  }, 400_000)
  afterAll(async () => {
    await client?.close()
    await keycloak?.stop()
    await login.stop()
  })

  const registry = async (path: string, token: string) => {
    const asking = new Client(login.url)
    const { status, text } = await asking.send(`https://${host}${path}`, undefined, {
      authorization: `Bearer ${token}`,
    })
    await asking.close()
    return { status, body: JSON.parse(text) as unknown }
  }

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
          authorization: `${keycloak.issuer}/protocol/openid-connect/auth`,
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

  it('a program with a client of its own has the groups that its client says', async () => {
    const token = await keycloak.clientToken('ci', secret)
    expect(await registry('/depot/ui/v1/whoami', token)).toMatchObject({
      status: 200,
      body: { kind: 'user', groups: ['platform'], binding: { name: 'people' } },
    })
  })

  it('a client without the audience is refused, and the refusal says what to add', async () => {
    const token = await keycloak.clientToken('bare', secret)
    const { status, body } = await registry('/depot/ui/v1/whoami', token)
    expect([status, JSON.stringify(body)]).toEqual([
      401,
      expect.stringMatching(/aud is \\"account\\".*takes tokens for \\"depot\\".*audience mapper/),
    ])
  })
})
