import { expect, it } from 'vitest'
import { enteredFiles, type Walk } from './entered-files.ts'

/** With more files a request is hard to follow. Lower a number as soon as a request enters fewer. */
const most: Readonly<Record<Walk, number>> = {
  'known token': 15,
  'new token': 34,
  archive: 67,
  'added module': 34,
}

it('a request enters few files', async () => {
  const files = await enteredFiles()
  expect(files['known token']).toContain('pkg/registry/protocol/modules.ts')
  expect(files['added module']).toContain('pkg/registry/catalog/catalog.ts')
  const counts = Object.entries(files).map(([walk, { length }]) => [walk, length])
  const tooMany = counts.filter(([walk, count]) => Number(count) > most[walk as Walk])
  expect(tooMany, 'node hack/entered-files.ts WALK lists the files').toEqual([])
})
