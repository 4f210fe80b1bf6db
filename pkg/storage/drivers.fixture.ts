// The drivers themselves, for suites that hold each of them against a real store.
export { createAzureStores } from './azure.ts'
export { createGcsStores } from './gcs.ts'
export { createRemoteDriver } from './remote-driver.ts'
export type { RemoteStore } from './remote-store.ts'
export { createS3Stores } from './s3.ts'
export { createTransport, defaultTimings } from './transport.ts'
