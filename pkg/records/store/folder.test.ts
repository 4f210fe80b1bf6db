import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { objectsConformance } from './conformance.fixture.ts'
import { configMapIn } from './folder/config-map.fixture.ts'
import { folderObjects } from './store.ts'

const log = createLogger('silent')
const apiGroup = 'depot.internal'

objectsConformance('a folder', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'depot-objects-'))
  return {
    open: () => folderObjects({ dir, apiGroup, watch: true, restMs: 200, log }),
    async write(manifest) {
      await writeFile(join(dir, `${manifest.metadata.name}.yaml`), stringify(manifest))
    },
    remove: ({ name }) => rm(join(dir, `${name}.yaml`)),
    configMap: (namespace, name) => configMapIn(dir, namespace, name),
    async writeSecret(namespace, name, values) {
      const metadata = { name, namespace }
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: values }
      await writeFile(join(dir, `${name}.yaml`), stringify(secret))
    },
    close: () => rm(dir, { recursive: true }),
  }
})
