import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parseDocument, stringify } from 'yaml'
import type { ImportItem } from './item.ts'
import { Manifests } from './manifests.ts'

const cpuOf = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

it('parses a Module once, however many archives it has', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'depot-manifests-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const versions = Array.from({ length: 4000 }, (_, each) => ({ version: `1.${each}.0` }))
  const text = stringify({
    kind: 'Module',
    metadata: { name: 'vpc-aws' },
    spec: { moduleConfig: { name: 'vpc', provider: 'aws' }, versions },
  })
  mkdirSync(join(directory, 'platform/module'), { recursive: true })
  writeFileSync(join(directory, 'platform/module/vpc-aws.yaml'), text)
  const manifests = new Manifests({
    directory,
    apiGroup: 'depot.internal',
    storage: { fileSystem: { directoryPath: 'archives' } },
    format: 'tar.gz',
  })
  const items = versions.slice(0, 200).map(
    ({ version }): ImportItem => ({
      parent: { kind: 'Module', namespace: 'platform', name: 'vpc', system: 'aws' },
      version,
      fetch: () => Promise.reject(new Error('not fetched')),
    }),
  )
  const once = await cpuOf(() => parseDocument(text))
  const all = await cpuOf(async () => {
    for (const item of items) {
      await manifests.uploadOf(item)
      await manifests.complete(item)
    }
  })
  expect(all).toBeLessThan(20 * once)
})
