import { createHash, generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { clis, Workspace } from '../hack/testbed/cli/cli.ts'
import type { ObjectStore } from '../hack/testbed/object-stores/object-stores.ts'
import { zipOf } from '../hack/testbed/registry/archives.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../hack/testbed/server/server.ts'
import { objectStores } from './storage.fixture.ts'

const stamp = inject('stamp')
const apiVersion = 'depot.internal/v1alpha1'
const own = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`
const providerFile = `terraform-provider-stamp_1.0.0_${own}.zip`

/** The same archives in two namespaces. One streams them, the other redirects to storage without a fallback. */
const namespaces = [
  { namespace: 'streamed', presign: {} },
  { namespace: 'presigned', presign: { enabled: true, ttl: '5m', fallbackToProxy: false } },
  { namespace: 'fallback', presign: { enabled: true } },
]

/** Each has its own, because archives are distinguished by their place and digest. */
const moduleFile = (namespace: string) => `a b+${namespace}.zip`

const moduleZip = await zipOf([
  { path: 'main.tf', content: Buffer.from('output "from" { value = "storage" }\n') },
])
const providerZip =
  stamp &&
  (await zipOf([
    {
      path: 'terraform-provider-stamp_v1.0.0',
      content: readFileSync(stamp[own] ?? ''),
      executable: true,
    },
  ]))
const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

function objects(config: object): object[] {
  const all: object[] = []
  const [operatingSystem, architecture] = own.split('_')
  const add = (kind: string, namespace: string, name: string, spec: object, status?: object) =>
    all.push({ apiVersion, kind, metadata: { name, namespace }, spec, status })
  for (const { namespace, presign } of namespaces) {
    const storageConfig = { ...config, presign }
    const module = { name: 'network', storageConfig }
    const provider = { name: 'stamp', storageConfig }
    add('Module', namespace, 'network', { moduleConfig: module })
    add('Provider', namespace, 'stamp', { providerConfig: provider })
    add(
      'Version',
      namespace,
      'network-1.0.0',
      {
        type: 'Module',
        version: '1.0.0',
        fileName: moduleFile(namespace),
        moduleConfigRef: module,
      },
      { checksum: digestOf(moduleZip), synced: true },
    )
    if (providerZip === undefined) continue
    add(
      'Version',
      namespace,
      'stamp-1.0.0',
      {
        type: 'Provider',
        version: '1.0.0',
        fileName: providerFile,
        operatingSystem,
        architecture,
        providerConfigRef: provider,
      },
      { checksum: digestOf(providerZip), synced: true },
    )
  }
  return all
}

const configuration = (namespace: string, withProvider: boolean) => `
  module "it" {
    source  = "depot.test/${namespace}/network/aws"
    version = "1.0.0"
  }
  output "it" { value = module.it.from }
  ${withProvider ? required(namespace) : ''}`

const required = (namespace: string) => `
  terraform {
    required_providers {
      stamp = { source = "depot.test/${namespace}/stamp" }
    }
  }
  data "stamp_release" "it" {}`

/** A key in Google's format, so that URLs can be signed. Google does not know it. */
function googleKeyFile(dir: string): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const file = join(dir, 'google.json')
  const key = {
    type: 'service_account',
    client_email: 'depot@example.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  }
  writeFileSync(file, JSON.stringify(key))
  return file
}

/** Status codes of the server's answers to GETs of archives since a line of its log. */
function archiveAnswers(server: Server, since: number): number[] {
  return server.log
    .slice(since)
    .filter((line) => line.includes('"msg":"request"') && line.includes('v1/download/'))
    .map((line) => JSON.parse(line) as { method: string; path: string; status: number })
    .filter(({ method, path }) => method === 'GET' && !path.includes('/1.0.0/download/'))
    .map(({ status }) => status)
}

describe.each(objectStores)('archives in $name', ({ name: backend, missing, start }) => {
  let registry: Registry
  let store: ObjectStore
  let server: Server

  beforeAll(async () => {
    if (missing) return
    const started = await start()
    store = started.store
    registry = await new Registry().sign()
    Object.assign(registry.environment, store.env, {
      GOOGLE_APPLICATION_CREDENTIALS: googleKeyFile(registry.dir),
    })
    registry.write('objects.yaml', objects(started.config('depot-archives')))
    const prefix = backend === 's3' ? 'team/archives/' : ''
    const archives: [name: string, file: string, bytes: Buffer][] = namespaces.map(
      ({ namespace }) => ['network', moduleFile(namespace), moduleZip],
    )
    if (providerZip) archives.push(['stamp', providerFile, providerZip])
    for (const [name, file, bytes] of archives) {
      const bucket = backend === 'azure' ? name : 'depot-archives'
      const object = backend === 'azure' ? file : `${prefix}${name}/${file}`
      await store.createBucket(bucket).catch(() => {})
      await store.put(bucket, object, bytes)
    }
    server = await startServer(registry, '--presign-modules')
  })
  afterAll(async () => {
    await server?.stop()
    await store?.stop()
    registry?.remove()
  })

  describe.each(clis)('with $name', ({ path }) => {
    it.skipIf(missing || path === undefined).each([
      { namespace: 'streamed', status: 200 },
      { namespace: 'presigned', status: 307 },
    ])('module and provider are installed: $namespace', async ({ namespace, status }) => {
      const since = server.log.length
      const withProvider = providerZip !== undefined
      const workspace = new Workspace(path, server.url, configuration(namespace, withProvider))
      expect(await workspace.apply()).toEqual({ it: 'storage' })
      expect(new Set(archiveAnswers(server, since))).toEqual(new Set([status]))
    })
  })

  it.skipIf(missing)('the server answers HEAD, and a signed URL is in no log', async () => {
    const get = await fetch(`${server.url}/depot/modules/v1/presigned/network/aws/1.0.0/download`)
    const url = get.headers.get('x-terraform-get') ?? ''
    const head = await fetch(url, { method: 'HEAD', redirect: 'manual' })
    expect([head.status, head.headers.get('content-length')]).toEqual([
      200,
      String(moduleZip.length),
    ])
    const redirect = await fetch(url, { redirect: 'manual' })
    expect([redirect.status, redirect.headers.get('cache-control')]).toEqual([307, 'no-store'])
    const location = redirect.headers.get('location') ?? ''
    expect(digestOf(Buffer.from(await (await fetch(location)).arrayBuffer()))).toBe(
      digestOf(moduleZip),
    )
    const signature = /(?:X-Amz-Signature|sig|X-Goog-Signature)=([^&]+)/.exec(location)?.[1] ?? '?'
    expect(server.log.join('\n')).not.toContain(signature)
  })
})

const google = objectStores.find(({ name }) => name === 'gcs')

describe.skipIf(google?.missing)('pre-signing that fails', () => {
  let registry: Registry
  let store: ObjectStore | undefined
  let server: Server

  beforeAll(async () => {
    const started = await google?.start()
    store = started?.store
    registry = await new Registry().sign()
    // The emulator gives archives to everyone, but nothing can sign for it.
    Object.assign(registry.environment, store?.env, {
      GOOGLE_APPLICATION_CREDENTIALS: join(registry.dir, 'nothing.json'),
    })
    registry.write('objects.yaml', objects(started?.config('depot-archives') ?? {}))
    await store?.createBucket('depot-archives')
    for (const { namespace } of namespaces) {
      await store?.put('depot-archives', `network/${moduleFile(namespace)}`, moduleZip)
    }
    server = await startServer(registry, '--presign-modules')
  })
  afterAll(async () => {
    await server?.stop()
    await store?.stop()
    registry?.remove()
  })

  describe.each(clis)('with $name', ({ path }) => {
    it.skipIf(path === undefined)('is replaced by streaming', async () => {
      const workspace = new Workspace(path, server.url, configuration('fallback', false))
      expect(await workspace.apply()).toEqual({ it: 'storage' })
      expect(server.log.join('\n')).toContain('pre-signing failed, the archive is streamed')
    })

    it.skipIf(path === undefined)('is an error if streaming is not allowed', async () => {
      const workspace = new Workspace(path, server.url, configuration('presigned', false))
      const { code, output } = await workspace.run('init')
      expect(code).not.toBe(0)
      expect(output).toContain('502')
      expect(output).not.toContain(registry.dir)
      expect(server.log.join('\n')).toContain('check GOOGLE_APPLICATION_CREDENTIALS')
    })
  })
})

describe('archives on disk, with a storage config that enables presign', () => {
  let registry: Registry
  let server: Server

  beforeAll(async () => {
    registry = await new Registry().sign()
    registry.write('objects.yaml', objects({ fileSystem: { directoryPath: 'all' } }))
    for (const { namespace } of namespaces) {
      registry.archive(`all/network/${moduleFile(namespace)}`, moduleZip)
    }
    if (providerZip) registry.archive(`all/stamp/${providerFile}`, providerZip)
    server = await startServer(registry, '--presign-modules')
  })
  afterAll(async () => {
    await server?.stop()
    registry?.remove()
  })

  describe.each(clis)('with $name', ({ path }) => {
    it.skipIf(path === undefined)('are streamed if that is allowed', async () => {
      const withProvider = providerZip !== undefined
      const workspace = new Workspace(path, server.url, configuration('fallback', withProvider))
      expect(await workspace.apply()).toEqual({ it: 'storage' })
    })

    it.skipIf(path === undefined)('are refused with a reason if it is not', async () => {
      const workspace = new Workspace(path, server.url, configuration('presigned', false))
      const { code, output } = await workspace.run('init')
      expect(code).not.toBe(0)
      expect(output).toMatch(/501|fallbackToProxy/)
    })
  })
})
