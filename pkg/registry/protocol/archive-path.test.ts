import { expect, it } from 'vitest'
import { backendOf } from '../../api/v1alpha1/v1alpha1.ts'
import { archivePath, isAt } from './archives.ts'

const names = { configName: 'vpc', fileName: '1.zip' }
const azureStorage = {
  accountName: 'acc',
  accountUrl: 'https://acc.blob.example',
  subscriptionID: 'sub',
  resourceGroup: 'rg',
}

it.each([
  [{ s3: { bucket: 'b', region: 'r', key: 'prefix' } }, 's3', ['b', 'r', 'vpc', '1.zip']],
  [{ azureStorage }, 'azure', ['sub', 'rg', 'acc', 'https://acc.blob.example', 'vpc', '1.zip']],
  [{ gcs: { bucket: 'b' } }, 'gcs', ['b', 'vpc', '1.zip']],
  [{ fileSystem: { directoryPath: '/data' } }, 'fileSystem', ['/data', 'vpc', '1.zip']],
  [{ fileSystem: { directoryPath: '.' } }, 'fileSystem', ['/', 'vpc', '1.zip']],
])('the archive of %j is below %s at %j', (storage, name, segments) => {
  const location = { storage, ...names }
  const path = archivePath(location)
  expect(path).toBe(['download', name, ...segments.map(encodeURIComponent)].join('/'))
  const backend = backendOf(storage)
  expect(isAt(location, backend, segments)).toBe(true)
  expect(isAt(location, backend, [...segments, ''])).toBe(false)
  expect(isAt(location, backend, [...segments.slice(0, -1), '2.zip'])).toBe(false)
})
