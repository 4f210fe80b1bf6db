import { expect, it } from 'vitest'
import type { UpstreamPolicy } from '../../../api/v1alpha1/v1alpha1.ts'
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

const [key, other] = ['A'.repeat(40), 'B'.repeat(40)]
const [small, prefixed] = [key.toLowerCase(), `0x${key}`]
const spaced = key.replaceAll(/(.{4})/g, '$1 ').trim()

it.each<[string, object, UpstreamPolicy, object, unknown]>([
  ['no policy', {}, {}, {}, {}],
  ['that of the installation', {}, { requireSignature: true }, {}, { signature: 'Required' }],
  [
    'a Depot that asks for less',
    { requireSignature: false },
    { requireSignature: true },
    { signature: 'IfPresent' },
    { signature: 'Required' },
  ],
  [
    'the keys that both trust',
    { trustedKeys: [small, other] },
    { trustedKeys: [spaced] },
    {},
    { trustedKeys: [small] },
  ],
  [
    'some of them that the config names',
    { trustedKeys: [prefixed, other] },
    {},
    { trustedKeys: [key] },
    { trustedKeys: [key] },
  ],
  [
    'another key of the config',
    { trustedKeys: [prefixed] },
    {},
    { trustedKeys: [other] },
    expect.stringMatching(/^its trustedKeys have B+, which those of the policy do not have/),
  ],
  [
    'policies without a common key',
    { trustedKeys: [key] },
    { trustedKeys: [other] },
    {},
    expect.stringContaining('the policies have no trustedKeys in common'),
  ],
])('signatures of a provider follow %s', (_, policy, installation, config, expected) => {
  const spec = { policy, providerConfigs: [{ name: 'dns', ...config }] }
  const [item] = itemsOf(object('Depot', 'main', spec), [], { current: installation })
  const { signature, trustedKeys } = item?.config ?? {}
  const found = item?.problem ?? JSON.parse(JSON.stringify({ signature, trustedKeys }))
  expect(found).toEqual(expected)
})
