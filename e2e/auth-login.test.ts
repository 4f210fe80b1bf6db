import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { buildSamples } from '../hack/samples.ts'
import { Workspace } from '../hack/testbed/cli/cli.ts'
import { terraformLogin } from '../hack/testbed/cli/login.ts'
import { Client, IdentityProvider, machineSecret } from '../hack/testbed/oidc/oidc.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startAs } from '../hack/testbed/server/server.ts'
import { type Between, startTunnel } from '../hack/testbed/server/tunnel.ts'

/*
 * Everything that people and programs do to get in, with a certified provider behind the broker proxy and nothing but the
 * registry's own name: discovery, login, install.
 */

const host = 'depot.example'
const issuer = `https://${host}/broker`
const samples = join(dirname(import.meta.dirname), 'config/samples')
const registry = new Registry()
const terraform = inject('terraform')
let server: Server
let provider: IdentityProvider
let client: Client
let tunnel: Between

beforeAll(async () => {
  await registry.sign()
  await buildSamples(registry.archives)
  for (const file of ['network.yaml', 'hello.yaml']) {
    registry.writeText(file, readFileSync(join(samples, file), 'utf8'))
  }
  registry.write('bindings.yaml', [
    binding('platform', '"platform" in groups', ['network'], ['hello']),
    binding('program', '"client:ci" in groups', ['network'], []),
  ])
  const own = await generate([{ name: 'commonName', value: host }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }],
  })
  const [certPath, keyPath] = [join(registry.dir, 'cert.pem'), join(registry.dir, 'key.pem')]
  writeFileSync(certPath, own.cert)
  writeFileSync(keyPath, own.private)
  provider = await IdentityProvider.start(issuer)
  server = await startAs(
    registry,
    '--manifests',
    registry.manifests,
    '--tls-cert-path',
    certPath,
    '--tls-cert-key',
    keyPath,
    '--oidc-issuer-url',
    issuer,
    '--oidc-client-id',
    'depot',
    '--broker-proxy-url',
    provider.url,
    '--oidc-allow-client-credentials',
  )
  client = new Client(server.url)
  tunnel = await startTunnel(server.url)
  return async () => {
    await client.close()
    await server.stop()
    provider.stop()
    tunnel.close()
  }
})
afterAll(() => registry.remove())

function binding(name: string, expression: string, modules: string[], providers: string[]) {
  return {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'GroupBinding',
    metadata: { name, namespace: 'depot-system' },
    spec: { expression, moduleResources: modules, providerResources: providers },
  }
}

const configuration = `
  terraform {
    required_providers {
      hello = { source = "${host}/platform/hello" }
    }
  }
  module "network" {
    source = "${host}/platform/network/aws"
    cidr   = "10.0.0.0/16"
    zones  = ["a"]
  }
  resource "hello_greeting" "it" { name = "login" }
  output "message" { value = hello_greeting.it.message }`

const environment = () => ({
  SSL_CERT_FILE: join(registry.dir, 'cert.pem'),
  HTTPS_PROXY: tunnel.url,
  // Set, it would hide the credentials that login writes.
  TF_CLI_CONFIG_FILE: '',
})

it.skipIf(terraform === undefined)(
  'terraform installs nothing before login, and everything that is private after it',
  async () => {
    const workspace = new Workspace(terraform, server.url, configuration, environment())
    const before = await workspace.run('init')
    expect(before.code).toBe(1)
    expect(before.output).toMatch(/terraform login|401|unauthorized/i)

    const login = terraformLogin({
      terraform,
      host,
      home: dirname(workspace.dir),
      environment: environment(),
      browse: (url) => client.browse(url),
    })
    expect(await login).toMatchObject({
      code: 0,
      output: expect.stringContaining('Terraform has obtained and saved an API token'),
    })
    expect(await workspace.apply()).toEqual({
      message: 'Hello, login, from provider 1.1.0.',
    })
  },
)

describe('by hand', () => {
  const post = async (path: string, form: Record<string, string>) =>
    JSON.parse((await client.send(`${issuer}${path}`, form)).text) as Record<string, string>
  const ask = async (path: string, token?: string) =>
    client.send(`https://${host}${path}`, undefined, {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    })

  it('discovery says where to log in, under the name of the registry', async () => {
    const { text } = await ask('/.well-known/terraform.json')
    expect(JSON.parse(text)['login.v1']).toEqual({
      client: 'depot',
      grant_types: ['authz_code', 'device_code'],
      authz: `${issuer}/auth`,
      token: `${issuer}/token`,
      scopes: ['openid', 'profile', 'email', 'groups'],
      ports: [10_000, 10_010],
    })
  })

  it('a person logs in with a device code, and the ID token is as good as the access token', async () => {
    const scope = 'openid profile email groups'
    const begun = await post('/device/auth', { client_id: 'depot', scope })
    await client.browse(begun['verification_uri_complete'] ?? '')
    const tokens = await post('/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: begun['device_code'] ?? '',
      client_id: 'depot',
    })
    for (const token of [tokens['id_token'], tokens['access_token']]) {
      const { status, text } = await ask('/depot/ui/v1/whoami', token)
      expect([status, JSON.parse(text)]).toEqual([
        200,
        expect.objectContaining({
          kind: 'user',
          subject: 'alice',
          groups: ['platform'],
          binding: {
            name: 'platform',
            moduleResources: ['network'],
            providerResources: ['hello'],
          },
        }),
      ])
    }
  })

  it('a program gets in with its secret, as far as its binding says', async () => {
    const { access_token: token } = await post('/token', {
      grant_type: 'client_credentials',
      client_id: 'ci',
      client_secret: machineSecret,
      scope: 'groups',
    })
    const whoami = JSON.parse((await ask('/depot/ui/v1/whoami', token)).text)
    expect(whoami).toMatchObject({ kind: 'machine', subject: 'ci', groups: ['client:ci'] })
    const modules = await ask('/depot/modules/v1/platform/network/aws/versions', token)
    const providers = await ask('/depot/providers/v1/platform/hello/versions', token)
    expect([modules.status, providers.status]).toEqual([200, 404])
  })

  it('a wrong secret, and a token that was changed, are refused', async () => {
    const { error } = await post('/token', {
      grant_type: 'client_credentials',
      client_id: 'ci',
      client_secret: 'wrong',
    })
    expect(error).toBe('invalid_client')
    expect((await ask('/depot/ui/v1/resources', 'a.b.c')).status).toBe(401)
    expect((await ask('/depot/ui/v1/resources')).status).toBe(401)
  })
})
