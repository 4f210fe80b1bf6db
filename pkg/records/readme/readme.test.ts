import { expect, it } from 'vitest'
import { maxInterfaceBytes, readmeObject } from './readme.ts'

it('fits the longest README and the largest interface into one ConfigMap', () => {
  const owner = { namespace: 'team', name: 'vpc-1-0-0', uid: 'uid' }
  const texts = { readme: 'x'.repeat(600 * 1024), interface: '1'.repeat(maxInterfaceBytes) }
  const values = Object.values(readmeObject(owner, texts, 'depot.internal').data)
  expect(values).toHaveLength(2)
  // The limit of an API server.
  expect(values.join('').length).toBeLessThanOrEqual(1024 * 1024)
})
