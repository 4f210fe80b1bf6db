import { expect, it } from 'vitest'
import { parseResource, type Resource } from '../../api/v1alpha1/v1alpha1.ts'
import { ArchiveIndex } from './digests.ts'

function parse(kind: 'Module' | 'Version', name: string, spec: object): Resource {
  const parsed = parseResource(kind, { metadata: { name, namespace: 'team' }, spec })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.resource
}

const module = (name: string, provider: string) =>
  parse('Module', name, {
    moduleConfig: {
      name: 'net',
      provider,
      storageConfig: { fileSystem: { directoryPath: provider } },
    },
  })

it.each([
  ['aws', 'aws'],
  ['azurerm', 'azurerm'],
  ['google', undefined],
  [undefined, undefined],
])('a Version of net for %s has its archive below %s', (provider, directory) => {
  const index = new ArchiveIndex()
  for (const system of ['aws', 'azurerm']) {
    const resource = module(`net-${system}`, system)
    index.set({ kind: 'Module', namespace: 'team', name: `net-${system}` }, resource)
  }
  const version = parse('Version', 'one', {
    type: 'Module',
    version: '1.0.0',
    fileName: 'one.zip',
    moduleConfigRef: { name: 'net', provider },
  })
  if (version.kind !== 'Version') throw new TypeError('no Version')
  expect(index.locate(version)?.storage.fileSystem?.directoryPath).toBe(directory)
})
