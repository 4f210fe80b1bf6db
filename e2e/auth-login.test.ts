import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { Client, IdentityProvider, machineSecret } from '../hack/testbed/oidc/oidc.ts'
import {
  askRegistry,
  binding,
  brokerIssuer,
  installAroundLogin,
  LoginRegistry,
  logInByDevice,
  onlyAfterLogin,
  postToIssuer,
} from './login.fixture.ts'

/*
 * Logins of people and programs with a certified provider behind the broker proxy. They only know the registry's name. The
 * steps are discovery, login and install.
 */

const terraform = inject('terraform')
const login = new LoginRegistry()
let provider: IdentityProvider
let client: Client

beforeAll(async () => {
  await login.write([
    binding('platform', '"platform" in groups'),
    binding('program', '"client:ci" in groups', ['network'], []),
  ])
  provider = await IdentityProvider.start(brokerIssuer)
  const issuer = ['--oidc-issuer-url', brokerIssuer, '--oidc-client-id', 'depot']
  const broker = ['--broker-proxy-url', provider.url, '--oidc-allow-client-credentials']
  await login.start(...issuer, ...broker)
  client = new Client(login.url)
})
afterAll(async () => {
  await client?.close()
  await login.stop()
  provider?.stop()
})

it.skipIf(terraform === undefined)(
  'terraform installs nothing before login, and all private modules after it',
  async () =>
    expect(await installAroundLogin(login, { cli: terraform, client })).toEqual(onlyAfterLogin),
)

describe('by hand', () => {
  it('discovery names a login address under the name of the registry', async () => {
    const { body } = await askRegistry(client, '/.well-known/terraform.json')
    expect(body['login.v1']).toEqual({
      client: 'depot',
      grant_types: ['authz_code', 'device_code'],
      authz: `${brokerIssuer}/auth`,
      token: `${brokerIssuer}/token`,
      scopes: ['openid', 'profile', 'email', 'groups'],
      ports: [10_000, 10_010],
    })
  })

  it('a person logs in with a device code, and both the ID token and the access token are accepted', async () => {
    const access = { name: 'platform', moduleResources: ['network'], providerResources: ['hello'] }
    const caller = { kind: 'user', subject: 'alice', groups: ['platform'], binding: access }
    const whoami = { status: 200, body: expect.objectContaining(caller) as object }
    expect(await logInByDevice(client, '/device/auth')).toEqual([whoami, whoami])
  })

  it('a program logs in with its secret and reads what its binding allows', async () => {
    const { access_token: token } = await postToIssuer(client, '/token', {
      grant_type: 'client_credentials',
      client_id: 'ci',
      client_secret: machineSecret,
      scope: 'groups',
    })
    const { body } = await askRegistry(client, '/depot/ui/v1/whoami', token)
    expect(body).toMatchObject({ kind: 'machine', subject: 'ci', groups: ['client:ci'] })
    const modules = '/depot/modules/v1/platform/network/aws/versions'
    expect((await askRegistry(client, modules, token)).status).toBe(200)
    const providers = '/depot/providers/v1/platform/hello/versions'
    expect((await askRegistry(client, providers, token)).status).toBe(404)
  })

  it('a wrong secret and a modified token are refused', async () => {
    const { error } = await postToIssuer(client, '/token', {
      grant_type: 'client_credentials',
      client_id: 'ci',
      client_secret: 'wrong',
    })
    expect(error).toBe('invalid_client')
    const path = '/depot/ui/v1/resources'
    expect((await askRegistry(client, path, 'a.b.c')).status).toBe(401)
    expect((await askRegistry(client, path)).status).toBe(401)
  })
})
