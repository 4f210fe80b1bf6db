import { expect, it } from 'vitest'
import { enteredFiles, newTag, type Walk } from './entered-files.ts'

/** With more files a walk is hard to follow. Lower a number as soon as its walk enters fewer. */
const most: Readonly<Record<Walk, number>> = {
  'known token': 13,
  'new token': 30,
  archive: 45,
  'added module': 25,
  'new tag': 99,
}

/** The Version with its README, its Module, and the list of stored archives. */
const mostWrites = 3

it('a request enters few files', async () => {
  const files = await enteredFiles()
  expect(files['known token']).toContain('pkg/registry/protocol/modules.ts')
  expect(files['added module']).toContain('pkg/registry/catalog/catalog.ts')
  const counts = Object.entries(files).map(([walk, { length }]) => [walk, length])
  const tooMany = counts.filter(([walk, count]) => Number(count) > most[walk as Walk])
  expect(tooMany, 'node hack/entered-files.ts WALK lists the files').toEqual([])
})

it('a new tag enters few files, and few are written for it', async () => {
  const { files, calls } = await newTag()
  expect(files).toContain('pkg/fill/sync/version/obtain.ts')
  expect(files.length, 'node hack/entered-files.ts WALK lists the files').toBeLessThanOrEqual(
    most['new tag'],
  )
  // Each write makes one temporary file.
  const writes = calls.get('pkg/records/store/folder/write-file.ts temporaryOf')
  expect(writes).toBeLessThanOrEqual(mostWrites)
})
