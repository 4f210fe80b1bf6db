import { expect, it } from 'vitest'
import { Batches } from './batches.ts'

it('writes the first item at once, later items together, and resolves after the write', async () => {
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
    ['b', '1'],
    ['a', '2', '3', '4'],
  ])
})

it('spends at most a tenth of the time on writing, and never writes a file twice at a time', async () => {
  const began: number[] = []
  let running = 0
  const batches = new Batches<number>(async () => {
    running += 1
    expect(running).toBe(1)
    began.push(performance.now())
    await new Promise((resolve) => setTimeout(resolve, 20))
    running -= 1
  })
  const adding = []
  for (let item = 0; began.length < 4; item += 1) {
    adding.push(batches.add('a', item))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(adding)
  expect(adding.length).toBeGreaterThan(began.length)
  const gaps = began.slice(1).map((at, index) => at - (began[index] ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThan(10 * 20 * 0.9)
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

it('writes at once after hurry', async () => {
  let writes = 0
  const batches = new Batches<string>(async () => {
    writes += 1
  })
  await batches.add('a', '1')
  batches.hurry()
  await batches.add('a', '2')
  await batches.add('a', '3')
  expect(writes).toBe(3)
})
