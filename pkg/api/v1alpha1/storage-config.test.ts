import { expect, it } from 'vitest'
import { backendOf, backends, type StorageConfig } from './storage-config.ts'

const storages: readonly StorageConfig[] = [
  { s3: { bucket: 'b', region: 'r' } },
  {
    azureStorage: {
      accountName: 'acc',
      accountUrl: 'https://acc.blob.example',
      subscriptionID: 'sub',
      resourceGroup: 'rg',
    },
  },
  { gcs: { bucket: 'b' } },
  { fileSystem: { directoryPath: 'modules' } },
]

it('names the backend of each StorageConfig', () => {
  expect(storages.map(backendOf)).toEqual(backends)
})
