import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { buildSamples } from '../hack/samples.ts'
import { clis, Workspace } from '../hack/testbed/cli/cli.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../hack/testbed/server/server.ts'

const samples = join(dirname(import.meta.dirname), 'config/samples')
const host = 'depot.example'
const registry = new Registry()
const certPath = join(registry.dir, 'cert.pem')
const keyPath = join(registry.dir, 'key.pem')
let server: Server

beforeAll(async () => {
  await registry.sign()
  await buildSamples(registry.archives)
  for (const file of ['network.yaml', 'hello.yaml']) {
    registry.writeText(file, readFileSync(join(samples, file), 'utf8'))
  }
  const own = await generate([{ name: 'commonName', value: host }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }],
  })
  writeFileSync(certPath, own.cert)
  writeFileSync(keyPath, own.private)
  server = await startServer(registry, '--tls-cert-path', certPath, '--tls-cert-key', keyPath)
  return server.stop
})
afterAll(() => registry.remove())

/** The way to the server for a CLI that asks for a name which no DNS knows: a proxy that leads there, whatever the name. */
async function startTunnel(to: string): Promise<string> {
  const proxy = createServer()
  proxy.on('connect', (_request, client: Socket) => {
    const upstream = connect(Number(new URL(to).port), '127.0.0.1')
    client.write('HTTP/1.1 200 OK\r\n\r\n')
    upstream.pipe(client).pipe(upstream)
    for (const socket of [client, upstream]) {
      socket.on('error', () => {
        client.destroy()
        upstream.destroy()
      })
    }
  })
  await new Promise<void>((done) => {
    proxy.listen(0, '127.0.0.1', done)
  })
  onTestFinished(() => void proxy.close())
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

it.each(clis.filter(({ path }) => path !== undefined))(
  '$name finds everything by the host name alone, over https',
  async ({ path, name }) => {
    const workspace = new Workspace(
      path,
      server.url,
      `terraform {
      required_providers {
        hello = { source = "${host}/platform/hello" }
      }
    }
    module "network" {
      source = "${host}/platform/network/aws"
      cidr   = "10.0.0.0/16"
      zones  = ["a"]
    }
    resource "hello_greeting" "it" { name = "${name}" }
    output "subnets" { value = module.network.subnets }
    output "message" { value = hello_greeting.it.message }`,
      { SSL_CERT_FILE: certPath, HTTPS_PROXY: await startTunnel(server.url) },
    )
    expect(await workspace.apply()).toEqual({
      subnets: { a: '10.0.0.0/24' },
      message: `Hello, ${name}, from provider 1.1.0.`,
    })
  },
)
