import { expect, it, vi } from 'vitest'
import type { FakeApiServer } from '../../../hack/testbed/control-plane/fake-api-server.ts'
import {
  configMaps,
  moduleObject,
  paths,
  readmeObject,
  startFakeCluster,
} from '../../../hack/testbed/control-plane/fake-cluster.ts'
import { ClusterReadmes } from '../../records/kube/kube.ts'
import { Catalog } from './catalog.ts'

function putVersion(api: FakeApiServer, module: string, version: string, readme: string): void {
  api.put(paths.versions, {
    kind: 'Version',
    metadata: { name: `${module}-${version}`, namespace: 'team' },
    spec: { type: 'Module', version, moduleConfigRef: { name: module } },
    status: { readmeConfigMapRef: { name: readme, key: 'README' } },
  })
}

async function start(prepare: (api: FakeApiServer) => void) {
  const readmes = new ClusterReadmes('depot.internal')
  const catalog = new Catalog({ onReadme: readmes.note })
  const fake = await startFakeCluster({ prepare, sink: catalog, readmes })
  await fake.cluster.ready
  await catalog.model.whenSettled
  return {
    fake,
    readmes,
    get: (name: string) => readmes.get('team', name, 'README', 'v1'),
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  }
}

it('keeps the README of the latest version and forgets those of older ones', async () => {
  await using registry = await start((api) => {
    api.put(paths.modules, moduleObject('net'))
    for (const version of ['1.0.0', '1.1.0']) {
      api.put(configMaps, readmeObject(`net-${version}`, `# ${version}`))
      putVersion(api, 'net', version, `net-${version}`)
    }
  })
  await vi.waitFor(() => expect(registry.get('net-1.1.0')).toBe('# 1.1.0'))
  expect(registry.get('net-1.0.0')).toBeUndefined()
  const before = registry.readmes.revision

  registry.fake.api.put(configMaps, readmeObject('net-2.0.0', '# 2.0.0'))
  putVersion(registry.fake.api, 'net', '2.0.0', 'net-2.0.0')
  await vi.waitFor(() => expect(registry.get('net-2.0.0')).toBe('# 2.0.0'))
  expect(registry.get('net-1.1.0')).toBeUndefined()
  expect(registry.readmes.revision).toBeGreaterThan(before)
})

it('reads READMEs that exist at the start with the watch alone', async () => {
  const modules = Array.from({ length: 300 }, (_, index) => `module-${index}`)
  await using registry = await start((api) => {
    for (const module of modules) {
      api.put(paths.modules, moduleObject(module))
      api.put(configMaps, readmeObject(`${module}-1`, `# ${module}`))
      putVersion(api, module, '1.0.0', `${module}-1`)
    }
  })
  await vi.waitFor(() => {
    for (const module of modules) expect(registry.get(`${module}-1`)).toBe(`# ${module}`)
  })
  expect(registry.fake.api.requestsFor('/api/v1/namespaces/team/configmaps')).toEqual([])
})

it('keeps a README that two modules share until neither names it', async () => {
  await using registry = await start((api) => {
    api.put(configMaps, readmeObject('both', '# Both'))
    for (const module of ['a', 'b']) {
      api.put(paths.modules, moduleObject(module))
      putVersion(api, module, '1.0.0', 'both')
    }
  })
  const { api } = registry.fake
  await vi.waitFor(() => expect(registry.get('both')).toBe('# Both'))
  api.delete(paths.modules, 'a', 'team')
  api.put(configMaps, readmeObject('both', '# Still both'))
  await vi.waitFor(() => expect(registry.get('both')).toBe('# Still both'))
  api.delete(paths.modules, 'b', 'team')
  await vi.waitFor(() => expect(registry.get('both')).toBeUndefined())
})
