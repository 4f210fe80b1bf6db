import { hash } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readManifests } from '../pkg/records/folder/folder.ts'
import { documentSamples } from './sample-docs.ts'
import { buildSamples } from './samples.ts'

const archives = mkdtempSync(join(tmpdir(), 'depot-samples-'))
afterAll(() => rmSync(archives, { recursive: true, force: true }))

it('builds the same bytes each time, and writes only missing or wrong files', async () => {
  expect(await buildSamples(archives)).toBe(14)
  expect(await buildSamples(archives)).toBe(0)

  const file = join(archives, 'modules/network/network-1.0.0.zip')
  const content = readFileSync(file)
  writeFileSync(file, 'something else')
  expect(await buildSamples(archives)).toBe(1)
  expect(readFileSync(file)).toEqual(content)
})

it('leaves no half-written archive behind', () => {
  const files = globSync('**/*', { cwd: archives, withFileTypes: true }).filter((file) =>
    file.isFile(),
  )
  expect(files.map(({ name }) => name).filter((name) => !/\.(zip|tar\.gz)$/.test(name))).toEqual([])
})

it('stores documentation that the status of each module names, and keeps what the samples say', async () => {
  const manifests = join(archives, 'manifests')
  // As a second start does.
  await documentSamples(archives, manifests)
  await documentSamples(archives, manifests)
  const read = await readManifests(manifests, 'depot.internal')
  expect(read.flatMap(({ rejections }) => rejections)).toEqual([])
  const versions = read
    .flatMap(({ entries }) => entries.flatMap(({ object }) => object ?? []))
    .filter((object) => object.kind === 'Version')
  const modules = versions.filter(({ spec }) => spec.type === 'Module')
  const stored = globSync('modules/*/*.docs.json.gz', { cwd: archives })
  expect([modules.length, stored.length]).toEqual([6, 6])
  const digests = stored.map((file) => hash('sha256', readFileSync(join(archives, file))))
  const documented = modules.flatMap(({ status }) => status?.artifact?.docs?.sha256 ?? [])
  expect(documented.toSorted()).toEqual(digests.toSorted())
  const network = modules.find(({ metadata }) => metadata.name === 'network-1.0.0')
  expect(network?.status?.readmeConfigMapRef?.name).toBe('readme-network-1.0.0')
  expect(network?.status?.sourceScan?.findings).toHaveLength(3)
})
