import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { Workspace } from '../hack/testbed/cli/cli.ts'
import { terraformLogin } from '../hack/testbed/cli/login.ts'
import type { Client } from '../hack/testbed/oidc/oidc.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { writeSamples } from '../hack/testbed/registry/samples.ts'
import { type Certificate, writeCertificate } from '../hack/testbed/server/certificate.ts'
import { type Server, startAs } from '../hack/testbed/server/server.ts'
import { type Between, startTunnel } from '../hack/testbed/server/tunnel.ts'

const repository = dirname(import.meta.dirname)

/** The name of the registry, which leads to the server through a tunnel. */
export const host = 'depot.example'
/** The issuer behind the registry's broker proxy. */
export const brokerIssuer = `https://${host}/broker`

/** The first block of code in that language below a heading of docs/authentication.md. */
export function blockBelow(heading: string, language: string): string {
  const docs = readFileSync(join(repository, 'docs/authentication.md'), 'utf8')
  const [, section = ''] = docs.split(`\n### ${heading}\n`)
  const block = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(section)?.[1]
  if (block === undefined)
    throw new Error(`docs/authentication.md has no ${language} below ${heading}`)
  return block
}

/** Callers for whom an expression is true may install these modules and providers. */
export function binding(
  name: string,
  expression: string,
  modules: readonly string[] = ['network'],
  providers: readonly string[] = ['hello'],
): object {
  return {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'GroupBinding',
    metadata: { name, namespace: 'depot-system' },
    spec: { expression, moduleResources: [...modules], providerResources: [...providers] },
  }
}

/** A registry with a private module and a private provider. CLIs only know its name and reach it over TLS. */
export class LoginRegistry {
  readonly registry = new Registry()
  #certificate: Certificate | undefined
  #server: Server | undefined
  #tunnel: Between | undefined

  /** The variables with which a CLI reaches it. */
  get environment(): NodeJS.ProcessEnv {
    return {
      SSL_CERT_FILE: this.certificate.certPath,
      HTTPS_PROXY: this.#tunnel?.url,
      // If it were set, it would hide the credentials that login writes.
      TF_CLI_CONFIG_FILE: '',
    }
  }

  /** The certificate for the name of the registry. */
  get certificate(): Certificate {
    if (this.#certificate === undefined) throw new Error('write the registry first')
    return this.#certificate
  }

  get url(): string {
    return this.#server?.url ?? ''
  }

  /** Writes samples, bindings and a certificate. */
  async write(objects: readonly object[]): Promise<void> {
    await this.registry.sign()
    await writeSamples(this.registry)
    this.registry.write('bindings.yaml', objects)
    this.#certificate = await writeCertificate(this.registry.dir, host)
  }

  /** Starts a server with these flags, and directs the name to it. */
  async start(...flags: readonly string[]): Promise<void> {
    const { registry, certificate } = this
    const source = ['--manifests', registry.manifests]
    this.#server = await startAs(registry, ...source, ...certificate.flags, ...flags)
    await this.lead(this.#server.url)
  }

  /** Directs the name of the registry to an address. */
  async lead(to: string): Promise<void> {
    this.#tunnel = await startTunnel(to)
  }

  async stop(): Promise<void> {
    await this.#server?.stop()
    this.#tunnel?.close()
    this.registry.remove()
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

export interface Person {
  /** A Terraform or an OpenTofu. */
  readonly cli: string | undefined
  /** The browser. */
  readonly client: Client
  /** The address of the login page. Default: the broker behind the registry's name. */
  readonly authorization?: string
}

/** The results of a CLI that installs nothing before login, and private modules after it. */
export const onlyAfterLogin = {
  before: {
    code: 1,
    output: expect.stringMatching(/login|401|unauthorized/i) as string,
  },
  login: {
    code: 0,
    output: expect.stringContaining('has obtained and saved an API token') as string,
  },
  installed: { message: 'Hello, login, from provider 1.1.0.' },
}

/** Makes a CLI install before login, log in, and install again. */
export async function installAroundLogin(
  { url, environment }: Pick<LoginRegistry, 'url' | 'environment'>,
  { cli, client, authorization }: Person,
) {
  const workspace = new Workspace(cli, url, configuration, environment)
  const before = await workspace.run('init')
  const login = await terraformLogin({
    terraform: cli,
    host,
    home: dirname(workspace.dir),
    environment,
    ...(authorization !== undefined && { authorization }),
    browse: (page) => client.browse(page),
  })
  return { before, login, installed: login.code === 0 ? await workspace.apply() : undefined }
}

/** Posts a form to the issuer behind the registry's name. */
export async function postToIssuer(
  client: Client,
  path: string,
  form: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  return JSON.parse((await client.send(`${brokerIssuer}${path}`, form)).text)
}

/** Sends a request to the registry by its name. */
export async function askRegistry(client: Client, path: string, token?: string) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const { status, text } = await client.send(`https://${host}${path}`, undefined, headers)
  return { status, body: JSON.parse(text) as Record<string, unknown> }
}

/** Logs in with a device code. @returns the caller as the registry sees it, by ID token and by access token */
export async function logInByDevice(client: Client, devicePath: string) {
  const begun = await postToIssuer(client, devicePath, {
    client_id: 'depot',
    scope: 'openid profile email groups',
  })
  await client.browse(begun['verification_uri_complete'] ?? '')
  const tokens = await postToIssuer(client, '/token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: begun['device_code'] ?? '',
    client_id: 'depot',
  })
  const whoami = (token: string | undefined) =>
    askRegistry(client, '/depot/ui/v1/whoami', token ?? '')
  return [await whoami(tokens['id_token']), await whoami(tokens['access_token'])]
}
