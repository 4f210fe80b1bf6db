import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BlobServiceClient } from '@azure/storage-blob'
import { Client } from 'minio'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { startAzure, startGcs, startS3 } from '../hack/testbed/object-stores/object-stores.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { startServer } from '../hack/testbed/server/server.ts'
import { missing, region } from './storage.fixture.ts'
import {
  archiveOf,
  install,
  page,
  Reader,
  rowOf,
  section,
  variables,
} from './storage-page.fixture.ts'

/* docs/storage.md: each place on the page is filled and served with the variables, fields and flags of the page. */

let reader: Reader
beforeAll(async () => {
  reader = await Reader.start()
})
afterAll(() => reader?.stop())

const untilTheEnd = async <T extends { stop: () => Promise<void> }>(starting: Promise<T>) => {
  const store = await starting
  onTestFinished(() => store.stop())
  return store
}

it.each(['upstream', './upstream/'])('a mounted directory, as %s', async (directoryPath) => {
  const { storageConfig, objectOf } = rowOf('fileSystem', { directoryPath })
  const folder = await reader.fill(storageConfig, {})
  for (const [name, fileName] of folder.fileNames()) {
    expect(existsSync(join(folder.dir, 'archives', objectOf(name, fileName)))).toBe(true)
  }
  expect(section('A mounted directory')).toContain('`--archives`')
  await install(await folder.serve('--archives archives'))
})

it('Azure, after creating the container', async () => {
  const { accountName, accountUrl, connectionString } = await untilTheEnd(startAzure())
  const env = variables('Azure', { AZURE_STORAGE_CONNECTION_STRING: connectionString })
  const values = { accountName, accountUrl, subscriptionID: 'sub', resourceGroup: 'rg' }
  const { storageConfig, objectOf } = rowOf('azureStorage', values)
  const folder = await reader.fill(storageConfig, env)
  const client = BlobServiceClient.fromConnectionString(connectionString)
  for (const [name, file] of folder.fileNames()) {
    const [, fileName = '', container = ''] =
      /^(\S+) in the container (\w+)$/.exec(objectOf(name, file)) ?? []
    const blob = client.getContainerClient(container).getBlobClient(fileName)
    expect(await blob.exists()).toBe(true)
  }
  await install(await folder.serve())
})

it.skipIf(missing.gcs)('Google Cloud Storage', async () => {
  const store = await untilTheEnd(startGcs())
  await store.createBucket('archives')
  const env = variables('Google', { DEPOT_GCS_ENDPOINT: store.endpoint })
  const { storageConfig, objectOf } = rowOf('gcs', { bucket: 'archives' })
  const folder = await reader.fill(storageConfig, env)
  for (const [name, fileName] of folder.fileNames()) {
    const path = `/storage/v1/b/archives/o/${encodeURIComponent(objectOf(name, fileName))}`
    expect((await fetch(store.endpoint + path)).status).toBe(200)
  }
  await install(await folder.serve())
})

describe.skipIf(missing.s3)('S3', () => {
  const started = async () => {
    const store = await untilTheEnd(startS3(region))
    await store.createBucket('archives')
    const env = variables('S3', {
      AWS_ACCESS_KEY_ID: store.accessKeyId,
      AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
      DEPOT_S3_ENDPOINT: store.endpoint,
    })
    return { store, env }
  }
  const row = rowOf('s3', { bucket: 'archives', region, key: 'team/all' })

  it('is filled and served, and answers 404 for a missing object', async () => {
    const { store, env } = await started()
    const folder = await reader.fill(row.storageConfig, env)
    const objects = folder.fileNames().map(([name, fileName]) => row.objectOf(name, fileName))
    const { accessKeyId: accessKey, secretAccessKey: secretKey, port } = store
    const at = { endPoint: '127.0.0.1', port, useSSL: false, region }
    const client = new Client({ ...at, accessKey, secretKey })
    for (const object of objects) await client.statObject('archives', object)
    const url = await folder.serve()
    await install(url)
    for (const object of objects) await client.removeObject('archives', object)
    expect((await archiveOf(url)).status).toBe(404)
  })

  it('signs URLs for as long as the page says, and for a minute outside of a grant', async () => {
    const [, yaml = ''] = /```yaml\n(.*?)^```/ms.exec(section('Pre-signed downloads')) ?? []
    const { storageConfig } = parse(yaml) as { storageConfig: object }
    const { store, env } = await started()
    const folder = await reader.fill(storageConfig, env)
    const lifeOf = async (url: string) => {
      const answer = await archiveOf(url, { redirect: 'manual' })
      expect(answer.status).toBe(307)
      const location = new URL(answer.headers.get('location') ?? '')
      expect(location.origin).toBe(store.endpoint)
      expect((await fetch(location)).status).toBe(200)
      expect((await archiveOf(url, { method: 'HEAD', redirect: 'manual' })).status).toBe(200)
      return Number(location.searchParams.get('X-Amz-Expires'))
    }
    expect(await lifeOf(await folder.serve())).toBeLessThanOrEqual(60)
    const granted = await folder.serve("--storage-grants '*=*' --presign-modules")
    expect(await lifeOf(granted)).toBe(15 * 60)
    const found = await fetch(`${granted}/depot/modules/v1/platform/vpc/aws/1.0.0/download`)
    const module = new URL(found.headers.get('x-terraform-get') ?? '', granted)
    expect((await fetch(module, { redirect: 'manual' })).status).toBe(307)
  })

  it('is served from the cache while it is unavailable', async () => {
    const { store, env } = await started()
    const folder = await reader.fill(row.storageConfig, env)
    const [, flags = ''] = /`(--archive-cache-dir [^`]+)`/.exec(section('Cache')) ?? []
    const url = await folder.serve(flags.replace('DIR', 'cache'))
    const bytes = async () => Buffer.from(await (await archiveOf(url)).arrayBuffer())
    const before = await bytes()
    await store.stop()
    expect(await bytes()).toEqual(before)
  })
})

it('names existing flags, variables and metrics', async () => {
  const read = (file: string) => readFileSync(join(import.meta.dirname, '..', file), 'utf8')
  const named = (pattern: RegExp) => [...page.matchAll(pattern)].map(([, name = '']) => name)
  const reference = read('config/reference.md')
  const flags = named(/(?<![\w-])(--[a-z][a-z-]+)/g)
  expect(flags.length).toBeGreaterThan(3)
  expect(flags.filter((flag) => !reference.includes(`\`${flag}`))).toEqual([])
  const ours = named(/`(DEPOT_[A-Z0-9_]+)/g)
  expect(ours.filter((name) => !reference.includes(name))).toEqual([])

  const registry = new Registry()
  const server = await startServer(registry)
  onTestFinished(async () => {
    await server.stop()
    registry.remove()
  })
  const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()
  const counted = named(/`(depot_[a-z_]+)/g)
  expect(counted.length).toBeGreaterThan(1)
  expect(counted.filter((name) => !metrics.includes(`# TYPE ${name} `))).toEqual([])
})
