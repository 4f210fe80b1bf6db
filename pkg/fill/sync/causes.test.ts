import { hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { serveHttpsAlone } from '../../../hack/testbed/upstream/https-server.ts'
import type { StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import {
  type ArchivePlace,
  openArchiveStore,
  storageOfEnvironment,
} from '../../archives/storage/storage.ts'
import { fetching, localSources } from '../sources/sources.fixture.ts'
import type { Sources } from '../sources/sources.ts'
import { failureOf } from './failure.ts'

/* Operators read the status, the code and the words of the server that refused. */

const statuses = [400, 401, 403, 404, 409, 429, 500, 501, 502, 503, 504]
const words = 'the quota of project 4711 is spent'
const secret = 'c2VjcmV0'

/** The answer of a store to every request. */
let answer: { status: number; body: string; headers?: Record<string, string> } = {
  status: 500,
  body: '',
}
const server = createServer((incoming, outgoing) => {
  incoming.resume()
  outgoing.writeHead(answer.status, answer.headers).end(answer.body)
})
const dir = mkdtempSync(join(tmpdir(), 'depot-causes-'))
const file = { path: join(dir, 'file'), sizeBytes: 4, sha256: hash('sha256', 'file') }
let endpoint: string

beforeAll(async () => {
  writeFileSync(file.path, 'file')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true })
})

const xmlType = { 'content-type': 'application/xml' }
const xml = `<?xml version="1.0"?><Error><Code>Odd</Code><Message>${words}</Message></Error>`
const stores = [
  {
    backend: 's3',
    config: { s3: { bucket: 'archives', region: 'eu-west-1' } },
    body: xml,
    headers: xmlType,
    code: 'Odd',
  },
  {
    backend: 'azure',
    config: {
      azureStorage: {
        accountName: 'depottest',
        accountUrl: 'https://depottest.blob.core.windows.net',
        subscriptionID: 'x',
        resourceGroup: 'x',
      },
    },
    body: xml,
    headers: { ...xmlType, 'x-ms-error-code': 'Odd' },
    code: 'Odd',
  },
  {
    backend: 'gcs',
    config: { gcs: { bucket: 'archives' } },
    body: JSON.stringify({ error: { code: 403, message: words } }),
    code: '',
  },
] as const

const operations = {
  put: ({ driver, object }: ArchivePlace) => driver.put(object('x.zip'), file),
  verify: ({ driver, object }: ArchivePlace) =>
    driver.verify(object('x.zip'), file, { read: true }),
  check: ({ driver, object }: ArchivePlace) => driver.check(object('x.zip'), file),
  remove: ({ driver, object }: ArchivePlace) => driver.remove(object('x.zip')),
}

function placeOf(config: StorageConfig): ArchivePlace {
  const { settings } = storageOfEnvironment({
    DEPOT_S3_ENDPOINT: endpoint,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: secret,
    AZURE_STORAGE_CONNECTION_STRING: `DefaultEndpointsProtocol=http;AccountName=depottest;AccountKey=${secret};BlobEndpoint=${endpoint}/depottest;`,
    DEPOT_GCS_ENDPOINT: endpoint,
  })
  const timings = { backoffMs: 1 }
  return openArchiveStore({ filesystemMountPath: dir, timings, ...settings }).for(config, 'vpc')
}

const failing = async (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe.each(stores)('storage of $backend', ({ config, body, code, ...rest }) => {
  it.each(Object.entries(operations))('says why %s failed', async (name, work) => {
    const silent: string[] = []
    for (const status of statuses) {
      answer = { status, body, ...rest }
      const error = await failing(work(placeOf(config)))
      // A missing object is an answer.
      if (error === undefined && status === 404 && name !== 'put') continue
      const said = failureOf(error)?.message ?? ''
      expect(said).not.toMatch(/Signature=|sig=|c2VjcmV0/)
      expect((error as Error).message).not.toContain(words)
      if (![String(status), words, code].every((each) => said.includes(each))) {
        silent.push(`${status}: ${said}`)
      }
    }
    expect(silent).toEqual([])
  })

  it('says why there is no connection', async () => {
    const before = endpoint
    onTestFinished(() => void (endpoint = before))
    endpoint = 'http://127.0.0.1:1'
    for (const work of Object.values(operations)) {
      const error = await failing(work(placeOf(config)))
      expect(failureOf(error)?.message).toContain('ECONNREFUSED')
    }
  })
})

it('says what the file system answered', async () => {
  writeFileSync(join(dir, 'vpc'), 'a file where a directory should be')
  const place = placeOf({ fileSystem: { directoryPath: '' } })
  const error = await failing(place.driver.put(place.object('x.zip'), file))
  expect(failureOf(error)?.message).toContain('ENOTDIR')
})

describe('a source', () => {
  const identity = { name: 'vpc', provider: 'aws' } as const
  const module = (sources: Sources, source: object) =>
    sources.module({ ...identity, repoOwner: 'acme', ...source }, 'team')
  const version = { version: '1.0.0', ref: 'v1.0.0', revision: 'v1.0.0' }
  const requests = {
    'the tags of GitHub': (sources: Sources) => module(sources, {}).list(fetching),
    'an archive of GitHub': (sources: Sources) => module(sources, {}).fetch(version, fetching),
    'discovery of a registry': (sources: Sources, host: string) =>
      module(sources, { source: { type: 'registry', url: `${host}/acme/vpc/aws` } }).list(fetching),
    'an archive at a URL': (sources: Sources, host: string) =>
      module(sources, {
        source: { type: 'archive', url: `https://${host}/{version}.zip` },
      }).fetch(version, fetching),
  }

  it.each(Object.entries(requests))('says why it has no answer to %s', async (_, ask) => {
    let status = 0
    const upstream = await serveHttpsAlone('causes', (_incoming, outgoing) => {
      outgoing.writeHead(status).end(`<html><p>${words}</p>Bearer ${secret}</html>`)
    })
    onTestFinished(() => upstream.close())
    for (status of statuses) {
      const local = await localSources(upstream.authority, [upstream.host], {
        githubApiUrl: upstream.origin,
      })
      const error = await failing(ask(local.sources, upstream.host))
      await local.close()
      const said = failureOf(error)?.message
      expect(said).toContain(String(status))
      expect(said).toContain(words)
      expect(said).not.toContain(secret)
    }
  })
})
