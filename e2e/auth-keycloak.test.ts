import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { clis } from '../hack/testbed/cli/cli.ts'
import { Keycloak } from '../hack/testbed/oidc/keycloak.ts'
import { Client } from '../hack/testbed/oidc/oidc.ts'
import {
  askRegistry,
  binding,
  blockBelow,
  installAroundLogin,
  LoginRegistry,
  onlyAfterLogin,
} from './login.fixture.ts'

/* A real Keycloak, configured exactly as in docs/authentication.md. */

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
    await login.write([binding('people', '"platform" in groups')])
    const scopes = ['--oidc-scopes', 'openid,profile,email']
    const issuer = ['--oidc-issuer-url', keycloak.issuer, '--oidc-client-id', 'depot']
    await login.start(...issuer, ...scopes)
    client = new Client(keycloak.url)
  }, 400_000)
  afterAll(async () => {
    await client?.close()
    await keycloak?.stop()
    await login.stop()
  })

  const whoami = async (token: string) => {
    const asking = new Client(login.url)
    const answer = await askRegistry(asking, '/depot/ui/v1/whoami', token)
    await asking.close()
    return answer
  }

  for (const { name, path } of clis) {
    it.skipIf(path === undefined)(
      `${name} installs nothing before login, and afterwards only modules that its group may read`,
      async () =>
        expect(
          await installAroundLogin(login, {
            cli: path,
            client,
            authorization: `${keycloak.issuer}/protocol/openid-connect/auth`,
          }),
        ).toEqual(onlyAfterLogin),
    )
  }

  it('gives a program with its own client the groups of that client', async () => {
    const token = await keycloak.clientToken('ci', secret)
    expect(await whoami(token)).toMatchObject({
      status: 200,
      body: { kind: 'user', groups: ['platform'], binding: { name: 'people' } },
    })
  })

  it('refuses a client without the audience, and says what to add', async () => {
    const token = await keycloak.clientToken('bare', secret)
    const { status, body } = await whoami(token)
    expect([status, JSON.stringify(body)]).toEqual([
      401,
      expect.stringMatching(/aud is \\"account\\".*takes tokens for \\"depot\\".*audience mapper/),
    ])
  })
})
