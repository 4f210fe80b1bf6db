import { expect, it } from 'vitest'
import type { StoredObject } from '../../../records/store/store.ts'
import { itemsOf } from './configs.ts'

const object = (kind: 'Depot' | 'Module', name: string, spec: object): StoredObject => ({
  kind,
  metadata: {
    name,
    namespace: 'team',
    uid: name,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: {},
    annotations: {},
    ownerReferences: [],
    finalizers: [],
  },
  spec,
})

it('refuses a config that would make the resource of another one, in any order', () => {
  const moduleConfigs = [
    { name: 'vpc', provider: 'aws' },
    { name: 'vpc', provider: 'gcp' },
    { name: 'vpc-gcp', provider: 'aws' },
  ]
  const refused = (managed: readonly StoredObject[]) =>
    itemsOf(object('Depot', 'main', { moduleConfigs }), managed)
      .filter(({ isTwin }) => isTwin)
      .map(({ name, objectName }) => `${name} ${objectName}`)
  expect(refused([])).toEqual(['vpc-gcp vpc-gcp'])
  const moduleConfig = { name: 'vpc-gcp', provider: 'aws' }
  expect(refused([object('Module', 'vpc-gcp', { moduleConfig })])).toEqual(['vpc vpc-gcp'])
})
