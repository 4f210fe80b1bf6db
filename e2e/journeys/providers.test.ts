import { createHash } from 'node:crypto'
import { generateKey } from 'openpgp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import { zipOf } from '../../hack/testbed/registry/archives.ts'
import { flipped, providerObjects, Registry } from '../../hack/testbed/registry/registry.ts'
import { writeSamples } from '../../hack/testbed/registry/samples.ts'
import { startProxy } from '../../hack/testbed/server/proxy.ts'
import { type Server, startServer } from '../../hack/testbed/server/server.ts'

const registry = new Registry()
let server: Server

beforeAll(async () => {
  await registry.sign()
  await writeSamples(registry, ['hello.yaml'])
  server = await startServer(registry)
  return server.stop
})
afterAll(() => registry.remove())

const required = (name: string, version = '') => `
  terraform {
    required_providers {
      ${name} = {
        source = "depot.test/platform/${name}"
        ${version === '' ? '' : `version = "${version}"`}
      }
    }
  }`

const helloConfiguration = (version: string) => `${required('hello', version)}
  resource "terraform_data" "who" { input = "e2e" }
  resource "hello_greeting" "it" { name = terraform_data.who.output }
  output "message" { value = hello_greeting.it.message }`

describe.each(clis)('providers, with $name', ({ path, name }) => {
  it.skipIf(path === undefined).each([
    { constraint: '~> 1.0', picks: '1.1.0' },
    { constraint: '1.0.0', picks: '1.0.0' },
  ])('the sample provider "$constraint" is $picks, and applied', async ({ constraint, picks }) => {
    const workspace = new Workspace(path, server.url, helloConfiguration(constraint))
    expect(await workspace.apply()).toEqual({ message: `Hello, e2e, from provider ${picks}.` })
    await workspace.must('plan', '-detailed-exitcode')
  })

  it.skipIf(path === undefined).each([
    {
      what: 'a key that did not sign',
      rewrite: async () => {
        const { publicKey } = await generateKey({
          userIDs: [{ name: 'Someone' }],
          type: 'rsa',
          rsaBits: 2048,
        })
        return (url: string, body: Buffer) => (isMetadata(url) ? withKey(body, publicKey) : body)
      },
      says: 'signature',
    },
    {
      what: 'checksums that were changed after signing',
      rewrite: async () => (url: string, body: Buffer) =>
        url.includes('/SHA256SUMS/')
          ? Buffer.from(String(body).replaceAll(/^[0-9a-f]/gm, '0'))
          : body,
      says: 'checksum',
    },
    {
      what: 'an archive that is not the signed one',
      rewrite: async () => (url: string, body: Buffer) =>
        url.includes('/v1/download/') ? Buffer.concat([body, Buffer.from('more')]) : body,
      says: 'checksum',
    },
  ])('$what is refused', async ({ rewrite, says }) => {
    const url = await startProxy(server.url, await rewrite())
    const workspace = new Workspace(path, url, helloConfiguration('1.0.0'))
    const { code, output } = await workspace.run('init')
    expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining(says) })
    expect(workspace.installed().filter(isProvider)).toEqual([])
  })

  it.skipIf(path === undefined)(
    'refuses an archive that changed after its digest was recorded',
    async () => {
      const type = `pinned-${name}`
      const fileName = `terraform-provider-${type}_1.0.0.zip`
      const entry = {
        path: `terraform-provider-${type}_v1.0.0`,
        content: Buffer.from('#!/bin/sh\n'),
      }
      const archive = await zipOf([{ ...entry, executable: true }])
      const checksum = createHash('sha256').update(archive).digest('hex')
      registry.archive(`providers/${type}/${fileName}`, archive)
      const platforms = Object.fromEntries(
        ['linux_amd64', 'linux_arm64', 'darwin_amd64', 'darwin_arm64'].map((platform) => [
          platform,
          { fileName, checksum },
        ]),
      )
      registry.write(`${type}.yaml`, providerObjects({ name: type, version: '1.0.0', platforms }))
      const list = `${server.url}/depot/providers/v1/platform/${type}/versions`
      await expect.poll(() => fetch(list).then(({ status }) => status)).toBe(200)
      await new Workspace(path, server.url, required(type)).must('init')

      registry.archive(`providers/${type}/${fileName}`, flipped(archive))
      const workspace = new Workspace(path, server.url, required(type))
      const { code, output } = await workspace.run('init')
      expect({ code, output }).toMatchObject({
        code: 1,
        output: expect.stringContaining('Failed to install provider'),
      })
      expect(workspace.installed().filter(isProvider)).toEqual([])
    },
  )
})

const isProvider = (file: string): boolean => file.includes('terraform-provider-')

const isMetadata = (url: string): boolean =>
  /\/download\/[^/]+\/[^/]+$/.test(url) && !url.includes('/v1/download/')

function withKey(body: Buffer, publicKey: string): Buffer {
  const metadata = JSON.parse(String(body)) as { signing_keys: { gpg_public_keys: object[] } }
  metadata.signing_keys.gpg_public_keys = [{ key_id: 'ABCDEF0123456789', ascii_armor: publicKey }]
  return Buffer.from(JSON.stringify(metadata))
}
