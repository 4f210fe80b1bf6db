import { describe } from 'vitest'
import { startAzure, startGcs, startS3 } from '../hack/object-stores/object-stores.ts'
import { createAzureStores } from '../pkg/storage/azure.ts'
import { driverConformance } from '../pkg/storage/conformance.ts'
import { createGcsStores } from '../pkg/storage/gcs.ts'
import { createRemoteDriver } from '../pkg/storage/remote-driver.ts'
import type { RemoteStore } from '../pkg/storage/remote-store.ts'
import { createS3Stores } from '../pkg/storage/s3.ts'
import { createTransport, defaultTimings } from '../pkg/storage/transport.ts'
import { missing, region } from './storage.ts'

const bucket = 'depot-archives'

function driverOf(store: RemoteStore) {
  const transport = createTransport(defaultTimings)
  const driver = createRemoteDriver({ store, transport, timings: defaultTimings })
  return { driver, held: () => transport.running }
}

describe.skipIf(missing.s3)('versitygw', () => {
  driverConformance('S3', async () => {
    const server = await startS3(region)
    await server.createBucket(bucket)
    return {
      ...driverOf(createS3Stores(server)(bucket, region)),
      put: (object, bytes) => server.put(bucket, object, bytes),
      close: server.stop,
    }
  })
})

describe('Azurite', () => {
  driverConformance('Azure', async () => {
    const server = await startAzure()
    await server.createBucket(bucket)
    const account = { ...server, subscriptionID: '', resourceGroup: '' }
    return {
      ...driverOf(createAzureStores(server)(account)(bucket)),
      put: (object, bytes) => server.put(bucket, object, bytes),
      close: server.stop,
    }
  })
})

describe.skipIf(missing.gcs)('fake-gcs-server', () => {
  driverConformance('Google', async () => {
    const server = await startGcs()
    await server.createBucket(bucket)
    return {
      ...driverOf(createGcsStores(server)(bucket)),
      put: (object, bytes) => server.put(bucket, object, bytes),
      close: server.stop,
    }
  })
})
