import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createAuthority } from '../testbed/control-plane/certificates.ts'
import { startControlPlane } from '../testbed/control-plane/control-plane.ts'
import { applyManifests } from '../testbed/control-plane/manifests.ts'
import type { ApiClient } from '../testbed/control-plane/request.ts'
import { benchObjects } from './registry.ts'

/*
 * How long it takes to read everything, beside a client that only parses: `node hack/bench/cluster.ts fake 200000` streams
 * from files, `node hack/bench/cluster.ts real 20000` from an API server.
 */

const [source = 'fake', versions = '200000'] = process.argv.slice(2)
const directory = mkdtempSync(join(tmpdir(), 'depot-load-'))
const rounds = 3

async function compare(url: string, ca: string, token: string): Promise<void> {
  writeFileSync(join(directory, 'ca.crt'), ca)
  writeFileSync(join(directory, 'token'), token)
  for (let round = 0; round < rounds; round++) {
    for (const mode of ['bare', 'depot']) {
      const args = [join(import.meta.dirname, 'cluster-client.ts'), mode, url, directory]
      console.log((await promisify(execFile)(process.execPath, args)).stdout.trim())
    }
  }
}

async function fromFiles(): Promise<void> {
  const authority = createAuthority(directory)
  authority.server('server')
  const child = fork(join(import.meta.dirname, 'cluster-source.ts'), [directory, versions])
  const [port] = (await once(child, 'message')) as [number]
  await compare(`https://127.0.0.1:${port}`, authority.cert, 'none')
  child.disconnect()
}

async function fromApiServer(): Promise<void> {
  const cluster = await startControlPlane()
  await applyManifests(cluster.admin, 'config/crd/bases')
  for (const name of ['bench', 'depot-system']) {
    await cluster.admin.request('POST', '/api/v1/namespaces', { metadata: { name } })
  }
  await fill(cluster.admin)
  await compare(cluster.url, cluster.ca, cluster.tokens['admin'] ?? '')
  await cluster.stop()
}

async function fill(api: ApiClient): Promise<void> {
  const size = { versions: Number(versions), findingsPerVersion: 20, distinctFindings: 4_000 }
  const objects = benchObjects(size)
  const work = async () => {
    for (const object of objects) {
      const { resourceVersion: _, ...metadata } = object.metadata as Record<string, unknown>
      const path = `/apis/depot.internal/v1alpha1/namespaces/bench/${object.kind.toLowerCase()}s`
      const made = (await api.request('POST', path, { ...object, metadata })) as typeof object
      if (!('status' in object)) continue
      const body = { ...made, status: object.status }
      await api.request('PUT', `${path}/${object.metadata.name}/status`, body)
    }
  }
  await Promise.all(Array.from({ length: 16 }, work))
}

await (source === 'fake' ? fromFiles() : fromApiServer())
rmSync(directory, { recursive: true })
