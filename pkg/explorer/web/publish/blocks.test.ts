import { expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { parseResource } from '../../../api/v1alpha1/v1alpha1.ts'
import {
  ciJob,
  depotBlock,
  type Filled,
  manifestFile,
  manifests,
  publishCommand,
} from './blocks.ts'

const module: Filled = {
  kind: 'module',
  namespace: 'network',
  name: 'vpc',
  system: 'aws',
  version: '2.1.0',
  registryHost: 'depot.example.com',
  overHttp: true,
}
const provider: Filled = { ...module, kind: 'provider', name: 'cmdb' }

/** The objects of a block. Its digest is filled in as the comment in the block says. */
const objectsOf = (text: string) =>
  parseAllDocuments(text.replace('""', 'a'.repeat(64))).map((document) => {
    const object = document.toJS() as { readonly kind: 'Depot' | 'Module' | 'Provider' | 'Version' }
    const parsed = parseResource(object.kind, object)
    expect(parsed).toMatchObject({ ok: true })
    return object
  })

it.each([
  ['a module', module, ['Module', 'Version']],
  ['a module that exists', { ...module, object: 'vpc-aws' }, ['Version']],
  ['a provider', provider, ['Provider', 'Version']],
  ['a provider that exists', { ...provider, object: 'cmdb' }, ['Version']],
  ['long names', { ...module, name: 'DNS_Zone', version: 'v1.0.0-RC.1+b' }, ['Module', 'Version']],
] as const)('writes objects of %s that the schema accepts', (_, filled, kinds) => {
  expect(objectsOf(manifests(filled)).map(({ kind }) => kind)).toEqual(kinds)
  expect(objectsOf(depotBlock(filled)).map(({ kind }) => kind)).toEqual(['Depot'])
})

it('uses the name of the Module in the registry, otherwise the typed name', () => {
  const [version] = objectsOf(manifests({ ...module, object: 'vpc-aws' }))
  expect(version).toMatchObject({
    metadata: { name: 'vpc-aws-2.1.0' },
    spec: { moduleConfigRef: { name: 'vpc-aws' }, fileName: 'vpc-2.1.0.zip' },
  })
  const [parent] = objectsOf(manifests({ ...module, name: 'DNS_Zone' }))
  expect(parent).toMatchObject({
    metadata: { name: 'dns-zone' },
    spec: { moduleConfig: { name: 'DNS_Zone', provider: 'aws' } },
  })
  expect(manifestFile({ ...module, version: '1.0.0+b' })).toBe('vpc-1.0.0-build-b.yaml')
})

it.each([
  [module, 'module . | --to depot.example.com/network/vpc/aws | --version 2.1.0'],
  [
    { ...module, name: '', system: '', version: '' },
    'module . | --to depot.example.com/network/NAME/SYSTEM | --version VERSION',
  ],
  [
    { ...module, overHttp: false },
    'module . | --to network/vpc/aws | --version 2.1.0 | --direct --kubeconfig ~/.kube/config',
  ],
  [
    { ...provider, version: 'v2.1.0' },
    'provider dist | --to depot.example.com/network/cmdb | --version 2.1.0',
  ],
  [
    { ...provider, overHttp: false },
    'provider dist | --to network/cmdb | --version 2.1.0 | --direct --kubeconfig ~/.kube/config',
  ],
])('writes a command', (filled, command) => {
  expect(publishCommand(filled).replaceAll(' \\\n  ', ' | ')).toBe(`depot publish ${command}`)
})

it('writes jobs that request an identity and publish the tag', () => {
  const to = 'depot.example.com/network/vpc/aws'
  expect(parse(ciJob(module, 'github'))).toMatchObject({
    permissions: { 'id-token': 'write' },
    jobs: {
      publish: {
        steps: [{}, { run: `depot publish module . --to ${to} --version "$GITHUB_REF_NAME"` }],
      },
    },
  })
  expect(parse(ciJob(module, 'gitlab'))).toMatchObject({
    publish: {
      id_tokens: { DEPOT_ID_TOKEN: { aud: 'https://depot.example.com' } },
      script: [`depot publish module . --to ${to} --version "$CI_COMMIT_TAG"`],
    },
  })
  expect(ciJob(provider, 'gitlab')).toMatch(
    /depot publish provider dist --to depot\.example\.com\/network\/cmdb$/,
  )
})
