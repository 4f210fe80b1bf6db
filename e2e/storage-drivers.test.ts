import { describe } from 'vitest'
import { startAzure, startGcs, startS3 } from '../hack/testbed/object-stores/object-stores.ts'
import { driverConformance } from '../pkg/storage/conformance.fixture.ts'
import {
  createAzureStores,
  createGcsStores,
  createRemoteDriver,
  createS3Stores,
  createTransport,
  defaultTimings,
  type RemoteStore,
} from '../pkg/storage/drivers.fixture.ts'
import { missing, region } from './storage.fixture.ts'

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
