import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Scene } from '../../pkg/fill/sync/scene.fixture.ts'
import { folderPlace } from '../../pkg/fill/sync/upstreams.fixture.ts'
import { outcomeOf } from './report.ts'

it('sums up how many versions are held back', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'depot-sync-report-'))
  const scene = await Scene.open(folderPlace(dir), 'team')
  onTestFinished(async () => {
    await scene.close()
    await rm(dir, { recursive: true })
  })
  const url = 'https://git.test/vpc.git'
  scene.upstream.repository(url, { 'v1.0.0': '1', 'v1.1.0': '2' })
  await scene.write('Depot', 'main', {
    global: { storageConfig: { fileSystem: { directoryPath: 'depot' } } },
    moduleConfigs: [{ name: 'vpc', provider: 'aws', source: { type: 'git', url } }],
    policy: { minimumAge: '7d' },
  })
  await scene.run()
  expect(outcomeOf(scene.objects, { stored: 0, removed: 0 }, undefined)).toBe('2 held back')
})
