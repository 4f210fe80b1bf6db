import { describe, expect, it, onTestFinished } from 'vitest'
import { startAzure, startGcs, startS3 } from '../hack/testbed/object-stores/object-stores.ts'
import { driverConformance } from '../pkg/archives/storage/conformance.fixture.ts'
import {
  createAzureStores,
  createGcsStores,
  createRemoteDriver,
  createS3Stores,
  createTransport,
  defaultTimings,
  type RemoteStore,
} from '../pkg/archives/storage/drivers.fixture.ts'
import { openArchiveStore } from '../pkg/archives/storage/storage.ts'
import { localFiles, writingConformance } from '../pkg/archives/storage/writing.fixture.ts'
import { missing, region } from './storage.fixture.ts'

const bucket = 'depot-archives'

function driverOf(store: RemoteStore) {
  const real = createTransport(defaultTimings)
  let held = 0
  const transport: typeof real = {
    async send(...request) {
      const answer = await real.send(...request)
      held += 1
      answer.body.once('close', () => {
        held -= 1
      })
      return answer
    },
  }
  const driver = createRemoteDriver({ store, transport, timings: defaultTimings })
  return { driver, held: () => held }
}

async function s3() {
  const server = await startS3(region)
  await server.createBucket(bucket)
  return {
    ...driverOf(createS3Stores(server)(bucket, region)),
    put: (object: string, bytes: Uint8Array) => server.put(bucket, object, bytes),
    close: server.stop,
  }
}

async function azure() {
  const server = await startAzure()
  await server.createBucket(bucket)
  const account = { ...server, subscriptionID: '', resourceGroup: '' }
  return {
    ...driverOf(createAzureStores(server)(account)(bucket)),
    put: (object: string, bytes: Uint8Array) => server.put(bucket, object, bytes),
    close: server.stop,
  }
}

async function gcs() {
  const server = await startGcs()
  await server.createBucket(bucket)
  return {
    ...driverOf(createGcsStores(server)(bucket)),
    put: (object: string, bytes: Uint8Array) => server.put(bucket, object, bytes),
    close: server.stop,
  }
}

describe.skipIf(missing.s3)('versitygw', () => {
  driverConformance('S3', s3)
  writingConformance('S3', s3)

  it('reports the digest of an archive, so that the archive is not read back', async () => {
    const server = await startS3(region)
    onTestFinished(server.stop)
    await server.createBucket(bucket)
    const sent: string[] = []
    const transport = createTransport(defaultTimings)
    const counted: typeof transport = {
      send: (method, ...rest) => {
        sent.push(method)
        return transport.send(method, ...rest)
      },
    }
    const store = createS3Stores(server)(bucket, region)
    const driver = createRemoteDriver({ store, transport: counted, timings: defaultTimings })
    const { file, remove } = localFiles()
    onTestFinished(remove)
    const archive = file(Buffer.from('an archive'))
    await driver.put('vpc/1.zip', archive)
    expect(await driver.verify('vpc/1.zip', archive)).toBe(true)
    const other = { ...archive, sha256: 'f'.repeat(64) }
    expect(await driver.check('vpc/1.zip', other)).toBe(false)
    expect(sent).not.toContain('GET')
    await server.put(bucket, 'vpc/2.zip', Buffer.from('an archive'))
    expect(await driver.verify('vpc/2.zip', archive)).toBe(true)
    expect(await driver.verify('vpc/1.zip', archive, { read: true })).toBe(true)
    expect(sent.filter((method) => method === 'GET')).toHaveLength(2)
  })
})

describe('Azurite', () => {
  driverConformance('Azure', azure)
  writingConformance('Azure', azure)

  it('creates the container with the first archive', async () => {
    const server = await startAzure()
    onTestFinished(server.stop)
    const { accountName, accountUrl } = server
    const azureStorage = { accountName, accountUrl, subscriptionID: 'sub', resourceGroup: 'rg' }
    const { folder, file, remove } = localFiles()
    onTestFinished(remove)
    const store = openArchiveStore({ filesystemMountPath: folder, azure: server })
    const { driver, object, prefix } = store.for({ azureStorage }, 'vpc')
    expect(await Array.fromAsync(driver.list(prefix))).toEqual([])
    const archive = file(Buffer.from('an archive'))
    expect(await driver.put(object('1.zip'), archive)).toBe('created')
    expect(await driver.verify(object('1.zip'), archive)).toBe(true)
    expect(await Array.fromAsync(driver.list(prefix))).toMatchObject([{ object: '1.zip' }])
  })
})

describe.skipIf(missing.gcs)('fake-gcs-server', () => {
  driverConformance('Google', gcs)
  writingConformance('Google', gcs)
})
