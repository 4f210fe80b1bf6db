import { expect, it } from 'vitest'
import { locationOf } from './archive.ts'
import { parseResource } from './v1alpha1.ts'

const storageIn = (directoryPath: string) => ({ fileSystem: { directoryPath } })

interface Config {
  readonly name?: string
  readonly storageConfig?: ReturnType<typeof storageIn>
}

function moduleWith(moduleConfig: Config) {
  const metadata = { namespace: 'team', name: 'vpc' }
  const parsed = parseResource('Module', { metadata, spec: { moduleConfig } })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.resource
}

function versionWith(moduleConfigRef: Config | undefined, more = {}, owner?: string) {
  const ownerReferences =
    owner === undefined
      ? []
      : [{ apiVersion: 'depot.internal/v1alpha1', kind: 'Module', name: owner, uid: 'u' }]
  const spec = { type: 'Module', version: '1.0.0', fileName: '1.zip', moduleConfigRef, ...more }
  const metadata = { namespace: 'team', name: 'vpc-1', ownerReferences }
  const parsed = parseResource('Version', {
    apiVersion: 'depot.internal/v1alpha1',
    metadata,
    spec,
  })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.resource
}

const [own, inherited] = [storageIn('own'), storageIn('inherited')]
const fileName = '1.zip'

it.each([
  {
    name: 'by its own copy of the config',
    version: versionWith({ name: 'x', storageConfig: own }),
    parent: moduleWith({ name: 'y', storageConfig: inherited }),
    location: { storage: own, configName: 'x', fileName },
  },
  {
    name: 'by its parent, where it says nothing itself',
    version: versionWith(undefined, {}, 'vpc'),
    parent: moduleWith({ name: 'y', storageConfig: inherited }),
    location: { storage: inherited, configName: 'y', fileName },
  },
  {
    name: 'in its own storage by the name of its parent',
    version: versionWith({ storageConfig: own }, {}, 'vpc'),
    parent: moduleWith({ name: 'y' }),
    location: { storage: own, configName: 'y', fileName },
  },
  {
    name: "in its parent's storage by its own name",
    version: versionWith({ name: 'x' }),
    parent: moduleWith({ name: 'y', storageConfig: inherited }),
    location: { storage: inherited, configName: 'x', fileName },
  },
  {
    name: "by its parent's own name, where no config has one",
    version: versionWith(undefined, {}, 'vpc'),
    parent: moduleWith({ storageConfig: inherited }),
    location: { storage: inherited, configName: 'vpc', fileName },
  },
  {
    name: 'by the name of an owner that is not there',
    version: versionWith({ storageConfig: own }, {}, 'gone'),
    parent: undefined,
    location: { storage: own, configName: 'gone', fileName },
  },
  {
    name: 'nowhere without a file name',
    version: versionWith({ name: 'x', storageConfig: own }, { fileName: undefined }),
    parent: undefined,
    location: undefined,
  },
  {
    name: 'nowhere without storage',
    version: versionWith({ name: 'x' }),
    parent: moduleWith({ name: 'x' }),
    location: undefined,
  },
  {
    name: 'nowhere without any name',
    version: versionWith({ storageConfig: own }),
    parent: undefined,
    location: undefined,
  },
])('the archive of a Version is $name', ({ version, parent, location }) => {
  expect(locationOf(version, parent)).toEqual(location)
})
