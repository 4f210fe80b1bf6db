import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
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
