import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { admissionScenarios } from './scenarios.fixture.ts'
import { folderPlace } from './upstreams.fixture.ts'

admissionScenarios('a folder', async () => {
  return folderPlace(await mkdtemp(join(tmpdir(), 'depot-sync-objects-')))
})
