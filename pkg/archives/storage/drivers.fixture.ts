// The drivers, for suites that test each with a real store.
export { createAzureStores } from './remote/azure.ts'
export { createGcsStores } from './remote/gcs.ts'
export { createRemoteDriver } from './remote/remote-driver.ts'
export type { RemoteStore } from './remote/remote-store.ts'
export { createS3Stores } from './remote/s3.ts'
export { createTransport, defaultTimings } from './remote/transport.ts'
