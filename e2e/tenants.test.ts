import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clis, Workspace } from '../hack/testbed/cli/cli.ts'
import type { ObjectStore } from '../hack/testbed/object-stores/object-stores.ts'
import { zipOf } from '../hack/testbed/registry/archives.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../hack/testbed/server/server.ts'
import { objectStores } from './storage.fixture.ts'

const apiVersion = 'depot.internal/v1alpha1'
const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** The victim's objects: an archive that its tenants publish, and an unpublished one. */
const archive = await zipOf([
  { path: 'main.tf', content: Buffer.from('output "from" { value = "storage" }\n') },
  { path: 'random', content: randomBytes(400_000) },
])
const secret = Buffer.concat([Buffer.from('the secret of the victim '), randomBytes(300_000)])

interface Wanted {
  readonly namespace: string
  readonly name: string
  readonly version: string
  readonly fileName: string
  readonly checksum: string
  readonly storageConfig: object
}

function objects(all: readonly Wanted[]): object[] {
  const created = new Set<string>()
  return all.flatMap(({ namespace, name, version, fileName, checksum, storageConfig }) => {
    const config = { name: 'network', storageConfig }
    const versionObject = {
      apiVersion,
      kind: 'Version',
      metadata: { namespace, name: `${name}-${version}` },
      spec: { type: 'Module', version, fileName, moduleConfigRef: { ...config, name: 'network' } },
      status: { checksum, synced: true },
    }
    const owner = { apiVersion, kind: 'Module', name, uid: '' }
    Object.assign(versionObject.metadata, { ownerReferences: [owner] })
    if (created.has(`${namespace}/${name}`)) return [versionObject]
    created.add(`${namespace}/${name}`)
    const metadata = { namespace, name }
    return [{ apiVersion, kind: 'Module', metadata, spec: { moduleConfig: config } }, versionObject]
  })
}

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

const local = {
  name: 'filesystem' as const,
  missing: false,
  start: async () => ({
    store: undefined,
    config: () => ({ fileSystem: { directoryPath: 'all' } }),
  }),
}

describe.each([...objectStores, local])('a tenant against another in $name', (backend) => {
  let registry: Registry
  let store: ObjectStore | undefined
  let server: Server
  let config: object

  /** Puts an object into the place of `network`'s Versions. */
  async function put(file: string, bytes: Buffer): Promise<void> {
    if (store === undefined) return registry.archive(`all/network/${file}`, bytes)
    const prefix = backend.name === 's3' ? 'team/archives/' : ''
    const bucket = backend.name === 'azure' ? 'network' : 'depot-archives'
    const object = backend.name === 'azure' ? file : `${prefix}network/${file}`
    await store.createBucket(bucket).catch(() => {})
    await store.put(bucket, object, bytes)
  }

  const urlOf = async (address: string): Promise<string> => {
    const response = await fetch(`${server.url}/depot/modules/v1/${address}/download`)
    expect(response.status).toBe(204)
    return response.headers.get('x-terraform-get') ?? ''
  }
  const ask = async (url: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(url, { method, headers, redirect: 'manual' })
    const body = await response.text()
    return { status: response.status, location: response.headers.get('location'), body }
  }

  beforeAll(async () => {
    if (backend.missing) return
    const started = await backend.start()
    store = started.store
    config = started.config('depot-archives')
    registry = new Registry()
    Object.assign(registry.environment, store?.env, {
      GOOGLE_APPLICATION_CREDENTIALS: googleKeyFile(registry.dir),
    })
    const presign = { enabled: true, ttl: '168h', fallbackToProxy: false }
    const good = {
      name: 'network',
      version: '1.0.0',
      fileName: 'good.zip',
      checksum: digestOf(archive),
    }
    const guess = digestOf(Buffer.from('a guess'))
    registry.write(
      'victim.yaml',
      objects([
        { ...good, namespace: 'victim', storageConfig: config },
        { ...good, namespace: 'signing', storageConfig: { ...config, presign } },
      ]),
    )
    registry.write(
      'mallory.yaml',
      objects([
        // The Version names an unpublished object, and guesses its digest.
        {
          ...good,
          namespace: 'mallory',
          version: '6.0.0',
          fileName: 'secret.zip',
          checksum: guess,
          storageConfig: config,
        },
        {
          ...good,
          namespace: 'mallory',
          name: 'signed',
          version: '6.0.0',
          fileName: 'secret.zip',
          checksum: guess,
          storageConfig: { ...config, presign },
        },
        // A missing object gets the same answer.
        {
          ...good,
          namespace: 'mallory',
          version: '7.0.0',
          fileName: 'nothing.zip',
          checksum: guess,
          storageConfig: config,
        },
        // The Version names the victim's place and digest, and requests a URL that is valid for a second.
        {
          ...good,
          namespace: 'mallory',
          storageConfig: { ...config, presign: { ...presign, ttl: '1s' } },
        },
      ]),
    )
    await put('good.zip', archive)
    await put('secret.zip', secret)
    server = await startServer(registry, '--presign-modules', '--storage-grants', 'admin=*')
  })
  afterAll(async () => {
    await server?.stop()
    await store?.stop()
    registry?.remove()
  })

  const isLocal = backend.name === 'filesystem'

  it.skipIf(backend.missing)('gets no byte, size or URL of an unpublished object', async () => {
    const url = await urlOf('mallory/network/aws/6.0.0')
    const answers = [
      await ask(url, { range: 'bytes=0-9' }),
      await ask(url),
      await ask(url, { range: 'bytes=999999999-' }),
      await ask(url, { 'if-none-match': '"guess"' }),
      await ask(await urlOf('mallory/signed/aws/6.0.0')),
    ]
    const nothing = await ask(await urlOf('mallory/network/aws/7.0.0'))
    for (const answer of answers) expect(answer).toEqual(nothing)
    expect(nothing).toMatchObject({ status: 404, location: null })
    expect(nothing.body).not.toMatch(/secret|\d{6}/)
    const head = await fetch(url, { method: 'HEAD' })
    expect(head.status).toBe(404)
    expect(head.headers.get('content-length')).not.toBe(String(secret.length))
    const log = server.log.filter((line) => line.includes('read and checked once'))
    expect(log.filter((line) => line.includes('"mallory"'))).toHaveLength(1)
  })

  it.skipIf(backend.missing)(
    'does not change the answer of the URL of another tenant',
    async () => {
      const url = await urlOf('victim/network/aws/1.0.0')
      const response = await fetch(url)
      expect(response.status).toBe(200)
      expect(digestOf(Buffer.from(await response.arrayBuffer()))).toBe(digestOf(archive))
      const part = await ask(url, { range: 'bytes=0-1' })
      expect([part.status, part.body]).toEqual([206, 'PK'])
      expect((await ask(url, {}, 'HEAD')).status).toBe(200)
    },
  )

  it.skipIf(backend.missing || isLocal)(
    'gets signed URLs that are valid for a minute at most',
    async () => {
      const { status, location } = await ask(await urlOf('signing/network/aws/1.0.0'))
      expect(status).toBe(307)
      const signed = new URL(location ?? '')
      const { searchParams: query } = signed
      const seconds = query.get('X-Amz-Expires') ?? query.get('X-Goog-Expires')
      const until = query.get('se')
      const left = until === null ? Number(seconds) : (Date.parse(until) - Date.now()) / 1000
      expect(left).toBeLessThanOrEqual(60)
      expect(digestOf(Buffer.from(await (await fetch(signed)).arrayBuffer()))).toBe(
        digestOf(archive),
      )
    },
  )

  it.skipIf(backend.missing)(
    'gets nothing of an object that replaces a published archive',
    async () => {
      const file = 'changing.zip'
      await put(file, archive)
      const changing = { namespace: 'mallory', name: 'changing', version: '1.0.0', fileName: file }
      registry.write(
        'changing.yaml',
        objects([{ ...changing, checksum: digestOf(archive), storageConfig: config }]),
      )
      const address = 'mallory/changing/aws/1.0.0'
      await expect
        .poll(
          async () => (await fetch(`${server.url}/depot/modules/v1/${address}/download`)).status,
          {
            timeout: 20_000,
          },
        )
        .toBe(204)
      const url = await urlOf(address)
      expect((await ask(url, {}, 'HEAD')).status).toBe(200)
      await put(file, secret)
      expect(await ask(url, { range: 'bytes=0-9' })).toMatchObject({ status: 404 })
      expect(await ask(url)).toMatchObject({ status: 404 })
    },
  )

  it.skipIf(backend.missing)(
    'is declared by a grant, and then nothing waits for a first read',
    async () => {
      const granted = {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'granted', annotations: { 'depot.internal/storage': '*' } },
      }
      const presign = { enabled: !isLocal }
      const fileName = 'secret.zip'
      const wanted = { namespace: 'granted', name: 'network', version: '1.0.0', fileName }
      const [module, version] = objects([
        { ...wanted, checksum: digestOf(archive), storageConfig: { ...config, presign } },
      ])
      registry.write('granted.yaml', [granted, module ?? {}, version ?? {}])
      const address = 'granted/network/aws/1.0.0'
      await expect
        .poll(
          async () => (await fetch(`${server.url}/depot/modules/v1/${address}/download`)).status,
          {
            timeout: 20_000,
          },
        )
        .toBe(204)
      const response = await fetch(await urlOf(address), { redirect: 'manual' })
      // An administrator has granted this: a URL at once, and bytes until the wrong digest aborts them.
      expect(response.status).toBe(isLocal ? 200 : 307)
      const outcome = await response.arrayBuffer().then(
        () => 'whole',
        () => 'broken off',
      )
      expect(outcome).toBe(isLocal ? 'broken off' : 'whole')
    },
  )

  describe.each(clis)('with $name', ({ path }) => {
    it.skipIf(backend.missing || path === undefined)('installs without any grant', async () => {
      const source = 'depot.test/victim/network/aws'
      const text = `module "it" {\n source = "${source}"\n version = "1.0.0"\n}\noutput "it" { value = module.it.from }`
      const workspace = new Workspace(path, server.url, text)
      expect(await workspace.apply()).toEqual({ it: 'storage' })
    })
  })
})
