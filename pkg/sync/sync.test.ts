import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { folderObjects } from '../objects/objects.ts'
import { createLogger } from '../telemetry/telemetry.ts'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import { syncScenarios } from './scenarios.fixture.ts'
import { Scene } from './scene.fixture.ts'

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

it('nothing is removed while a file cannot be read, for a Version in it may need any archive', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'depot-sync-objects-'))
  const file = (name: string) => join(dir, `${name}.yaml`)
  const scene = await Scene.open(
    {
      open: () => folderObjects({ dir, apiGroup, watch: true, log }),
      write: (manifest) => writeFile(file(manifest.metadata.name), stringify(manifest)),
      remove: ({ name }) => rm(file(name)),
      writeSecret: async () => undefined,
      close: () => rm(dir, { recursive: true }),
    },
    'team',
  )
  onTestFinished(async () => {
    await scene.close()
    await rm(dir, { recursive: true })
  })
  const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }
  scene.upstream.repository(url, { 'v1.0.0': 'first' })
  await scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0') })
  await scene.run()
  const stored = await scene.stored()
  await writeFile(file('broken'), 'kind: {')
  await scene.write('Module', 'vpc', { moduleConfig, versions: [] })
  await scene.run({ timings: { archiveDeleteDelayMs: 0 } })
  await eventually(() =>
    expect(scene.condition('Version', 'vpc-1-0-0', 'Ready')).toMatchObject({
      reason: 'ArchiveNotRemoved',
      message: expect.stringContaining('broken.yaml cannot be read') as string,
    }),
  )
  expect(await scene.stored()).toEqual(stored)
  await rm(file('broken'))
  await eventually(async () => expect(await scene.stored()).toEqual([]))
})
