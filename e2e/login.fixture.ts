import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { generate } from 'selfsigned'
import { buildSamples } from '../hack/samples.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startAs } from '../hack/testbed/server/server.ts'
import { type Between, startTunnel } from '../hack/testbed/server/tunnel.ts'

const repository = dirname(import.meta.dirname)

/** The name of the registry, which leads to the server by way of a tunnel. */
export const host = 'depot.example'

/** The code of the first block of that language below a heading of docs/authentication.md. */
export function blockBelow(heading: string, language: string): string {
  const docs = readFileSync(join(repository, 'docs/authentication.md'), 'utf8')
  const [, section = ''] = docs.split(`\n### ${heading}\n`)
  const block = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(section)?.[1]
  if (block === undefined)
    throw new Error(`docs/authentication.md has no ${language} below ${heading}`)
  return block
}

/** A registry with TLS, a private module and a private provider, which the group may install. */
export class LoginRegistry {
  readonly registry = new Registry()
  #server: Server | undefined
  #tunnel: Between | undefined

  /** What a CLI needs to reach it. */
  get environment(): NodeJS.ProcessEnv {
    return {
      SSL_CERT_FILE: join(this.registry.dir, 'cert.pem'),
      HTTPS_PROXY: this.#tunnel?.url,
      // Set, it would hide the credentials that login writes.
      TF_CLI_CONFIG_FILE: '',
    }
  }

  readonly configuration = `
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

  get url(): string {
    return this.#server?.url ?? ''
  }

  async start(group: string, flags: readonly string[]): Promise<void> {
    const { registry } = this
    await registry.sign()
    await buildSamples(registry.archives)
    for (const file of ['network.yaml', 'hello.yaml']) {
      registry.writeText(file, readFileSync(join(repository, 'config/samples', file), 'utf8'))
    }
    registry.write('bindings.yaml', [
      {
        apiVersion: 'depot.internal/v1alpha1',
        kind: 'GroupBinding',
        metadata: { name: 'people', namespace: 'depot-system' },
        spec: {
          expression: `"${group}" in groups`,
          moduleResources: ['network'],
          providerResources: ['hello'],
        },
      },
    ])
    const own = await generate([{ name: 'commonName', value: host }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }],
    })
    const [certPath, keyPath] = [join(registry.dir, 'cert.pem'), join(registry.dir, 'key.pem')]
    writeFileSync(certPath, own.cert)
    writeFileSync(keyPath, own.private)
    const tls = ['--tls-cert-path', certPath, '--tls-cert-key', keyPath]
    this.#server = await startAs(registry, '--manifests', registry.manifests, ...tls, ...flags)
    this.#tunnel = await startTunnel(this.#server.url)
  }

  async stop(): Promise<void> {
    await this.#server?.stop()
    this.#tunnel?.close()
    this.registry.remove()
  }
}
