import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { writeSamples } from '../../hack/testbed/registry/samples.ts'
import { type Certificate, writeCertificate } from '../../hack/testbed/server/certificate.ts'
import { type Server, startServer } from '../../hack/testbed/server/server.ts'
import { startTunnel } from '../../hack/testbed/server/tunnel.ts'

const host = 'depot.example'
const registry = new Registry()
let certificate: Certificate
let server: Server

beforeAll(async () => {
  await registry.sign()
  await writeSamples(registry)
  certificate = await writeCertificate(registry.dir, host)
  server = await startServer(registry, ...certificate.flags)
  return server.stop
})
afterAll(() => registry.remove())

it.each(clis.filter(({ path }) => path !== undefined))(
  '$name finds everything by the host name alone, over https',
  async ({ path, name }) => {
    const tunnel = await startTunnel(server.url)
    onTestFinished(() => tunnel.close())
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
      { SSL_CERT_FILE: certificate.certPath, HTTPS_PROXY: tunnel.url },
    )
    expect(await workspace.apply()).toEqual({
      subnets: { a: '10.0.0.0/24' },
      message: `Hello, ${name}, from provider 1.1.0.`,
    })
  },
)
