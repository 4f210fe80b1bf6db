import { expect, it } from 'vitest'
import { Batches } from './parent-files.ts'

it('writes items together that come before a write, and resolves after it', async () => {
  const written: string[][] = []
  const batches = new Batches<string>(async (file, items) => {
    written.push([file, ...items])
  })
  await batches.add('a', '1')
  expect(written).toEqual([['a', '1']])
  const more = ['2', '3', '4'].map((item) => batches.add('a', item))
  await batches.add('b', '1')
  await Promise.all(more)
  expect(written).toEqual([
    ['a', '1'],
    ['a', '2', '3', '4'],
    ['b', '1'],
  ])
})

it('never writes a file twice at a time', async () => {
  const writes: number[] = []
  let running = 0
  const batches = new Batches<number>(async (_, items) => {
    writes.push(items.length)
    running += 1
    expect(running).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    running -= 1
  })
  const adding = []
  for (let item = 0; writes.length < 4; item += 1) {
    adding.push(batches.add('a', item))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(adding)
  expect(adding.length).toBeGreaterThan(writes.length)
})

it('rejects every item of a failed write, and continues', async () => {
  let isFull = true
  const batches = new Batches<string>(async () => {
    if (isFull) throw new Error('the disk is full')
  })
  const results = await Promise.allSettled([batches.add('a', '1'), batches.add('a', '2')])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  isFull = false
  await batches.add('a', '3')
})
