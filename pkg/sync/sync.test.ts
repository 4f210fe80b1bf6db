import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { folderObjects } from '../objects/objects.ts'
import { createLogger } from '../telemetry/telemetry.ts'
import { syncScenarios } from './scenarios.fixture.ts'

const log = createLogger('silent')
const apiGroup = 'depot.internal'

syncScenarios('a folder', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'depot-sync-objects-'))
  const fileOf = (kind: string, name: string) => join(dir, `${kind.toLowerCase()}-${name}.yaml`)
  return {
    open: () => folderObjects({ dir, apiGroup, watch: true, log }),
    async write(manifest) {
      const path = fileOf(manifest.kind, manifest.metadata.name)
      const before = await readFile(path, 'utf8').catch(() => '')
      const status = before.slice(before.search(/^status:/m))
      await writeFile(path, stringify(manifest) + (before === '' ? '' : status))
    },
    remove: ({ kind, name }) => rm(fileOf(kind, name)),
    writeSecret: async () => undefined,
    close: () => rm(dir, { recursive: true }),
  }
})
