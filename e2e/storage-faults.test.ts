import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clis, Workspace } from '../hack/testbed/cli/cli.ts'
import { startTcpProxy, type TcpProxy } from '../hack/testbed/control-plane/tcp-proxy.ts'
import { type S3Store, startS3 } from '../hack/testbed/object-stores/object-stores.ts'
import { zipOf } from '../hack/testbed/registry/archives.ts'
import { flipped, Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../hack/testbed/server/server.ts'
import { missing, region } from './storage.fixture.ts'

const apiVersion = 'depot.internal/v1alpha1'
const storageConfig = { s3: { bucket: 'archives', region } }
const sizeBytes = 20_000_000

/** A module that is large enough to cut it in the middle. */
const moduleOf = (text: string, padBytes = 0) =>
  zipOf([
    { path: 'main.tf', content: Buffer.from(`output "from" { value = "${text}" }\n`) },
    { path: 'padding', content: randomBytes(padBytes) },
  ])
const archives = {
  whole: await moduleOf('storage', sizeBytes),
  kept: await moduleOf('cache'),
  wrong: await moduleOf('somewhere else', 100_000),
}

let store: S3Store
let proxy: TcpProxy
let registry: Registry
let server: Server

beforeAll(async () => {
  if (missing.s3) return
  store = await startS3(region)
  proxy = await startTcpProxy(store.port)
  registry = new Registry()
  Object.assign(registry.environment, store.env, {
    DEPOT_S3_ENDPOINT: `http://127.0.0.1:${proxy.port}`,
  })
  await store.createBucket('archives')
  for (const [name, bytes] of Object.entries(archives)) {
    await store.put('archives', `${name}/1.zip`, name === 'wrong' ? flipped(bytes) : bytes)
  }
  registry.write(
    'objects.yaml',
    Object.entries(archives).flatMap(([name, bytes]) => objects(name, bytes)),
  )
  server = await startServer(registry, '--archive-cache-dir', join(registry.dir, 'cache'))
})
afterAll(async () => {
  await server?.stop()
  await proxy?.close()
  await store?.stop()
  registry?.remove()
})

function objects(name: string, bytes: Buffer): object[] {
  const moduleConfig = { name, storageConfig }
  const spec = {
    type: 'Module',
    version: '1.0.0',
    fileName: '1.zip',
    moduleConfigRef: moduleConfig,
  }
  const checksum = createHash('sha256').update(bytes).digest('hex')
  const metadata = { name, namespace: 'faults' }
  return [
    { apiVersion, kind: 'Module', metadata, spec: { moduleConfig } },
    { apiVersion, kind: 'Version', metadata, spec, status: { checksum, synced: true } },
  ]
}

const configuration = (name: string) => `
  module "it" {
    source  = "depot.test/faults/${name}/any"
    version = "1.0.0"
  }
  output "it" { value = module.it.from }`

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${server.adminUrl}/metrics`)).text()
  return text
    .split('\n')
    .filter((line) => line.startsWith(name))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

describe.skipIf(missing.s3).each(clis)('storage that fails, with $name', ({ path }) => {
  it.skipIf(path === undefined)('a wrong archive is never installed', async () => {
    const workspace = new Workspace(path, server.url, configuration('wrong'))
    const { code } = await workspace.run('init')
    expect(code).not.toBe(0)
    expect(workspace.installed().filter((file) => file.endsWith('main.tf'))).toEqual([])
    expect(await metric('depot_archive_aborts_total{backend="s3",reason="ChecksumMismatch"}')).toBe(
      1,
    )
  })

  it.skipIf(path === undefined)('continues after a connection that is cut repeatedly', async () => {
    const cutting = setInterval(() => proxy.cut(), 15)
    const workspace = new Workspace(path, server.url, configuration('whole'))
    try {
      const { output } = await workspace.run('init')
      // URLs of archives contain the word.
      expect(output.replaceAll(/https?:\S+/g, '')).not.toContain('checksum')
    } finally {
      clearInterval(cutting)
    }
    expect(await workspace.apply()).toEqual({ it: 'storage' })
  })

  it.skipIf(path === undefined)(
    'installs cached archives while storage is unavailable',
    async () => {
      expect(await new Workspace(path, server.url, configuration('kept')).apply()).toEqual({
        it: 'cache',
      })
      await expect.poll(() => metric('depot_archive_cache_bytes')).toBeGreaterThan(0)
      proxy.stall(true)
      try {
        const workspace = new Workspace(path, server.url, configuration('kept'))
        expect(await workspace.apply()).toEqual({ it: 'cache' })
        expect((await fetch(`${server.adminUrl}/readyz`)).status).toBe(200)
      } finally {
        proxy.stall(false)
      }
    },
  )
})

describe.skipIf(missing.s3)('storage that stalls', () => {
  it('fails in time, with a message that does not name its address', async () => {
    const fresh = await startServer(registry)
    const download = `${fresh.url}/depot/modules/v1/faults/whole/any/1.0.0/download`
    const url = (await fetch(download)).headers.get('x-terraform-get') ?? ''
    proxy.stall(true)
    try {
      const response = await fetch(url)
      expect(response.status).toBe(504)
      const { errors } = (await response.json()) as { errors: string[] }
      expect(errors[0]).toContain('try again')
      expect(errors[0]).not.toMatch(/archives|127\.0\.0\.1/)
    } finally {
      proxy.stall(false)
      await fresh.stop()
    }
  })
})
