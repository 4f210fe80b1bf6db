import {
  type AzureStore,
  type GcsStore,
  type ObjectStore,
  type S3Store,
  startAzure,
  startGcs,
  startS3,
} from '../hack/testbed/object-stores/object-stores.ts'
import { findForTests, toolPath } from '../hack/testbed/tools.ts'

export const region = 'eu-west-1'

const isMissing = (tool: string) => findForTests(tool, () => toolPath(tool)) === undefined

export const missing = { s3: isMissing('versitygw'), gcs: isMissing('fake-gcs-server') }

/** Real object stores that share their tests, with a StorageConfig for each. */
export const objectStores: readonly {
  readonly name: 's3' | 'azure' | 'gcs'
  readonly missing: boolean
  readonly start: () => Promise<{ store: ObjectStore; config: (bucket: string) => object }>
}[] = [
  {
    name: 's3',
    missing: missing.s3,
    start: async () => {
      const store: S3Store = await startS3(region)
      return { store, config: (bucket) => ({ s3: { bucket, region, key: 'team/archives' } }) }
    },
  },
  {
    name: 'azure',
    missing: false,
    start: async () => {
      const store: AzureStore = await startAzure()
      const { accountName, accountUrl } = store
      const azureStorage = { accountName, accountUrl, subscriptionID: 'sub', resourceGroup: 'rg' }
      return { store, config: () => ({ azureStorage }) }
    },
  },
  {
    name: 'gcs',
    missing: missing.gcs,
    start: async () => {
      const store: GcsStore = await startGcs()
      return { store, config: (bucket) => ({ gcs: { bucket } }) }
    },
  },
]
