import { expect, it, vi } from 'vitest'
import { ArchivesInUse } from './in-work.ts'

const remove = () => vi.fn<() => Promise<void>>().mockResolvedValue(undefined)

it('does not remove an archive that is being stored', async () => {
  const inUse = new ArchivesInUse()
  const [one, other] = [await inUse.hold('s3', ['a', 'b']), await inUse.hold('s3', ['b'])]
  const held = remove()
  expect(await inUse.remove('s3', 'b', held)).toBe(false)
  one()
  expect(await inUse.remove('s3', 'b', held)).toBe(false)
  expect(held).not.toHaveBeenCalled()
  expect(await inUse.remove('s3', 'a', remove())).toBe(true)
  expect(await inUse.remove('gcs', 'b', remove())).toBe(true)
  other()
  expect(await inUse.remove('s3', 'b', held)).toBe(true)
})

it('waits for a removal before storing, also for one that fails', async () => {
  const inUse = new ArchivesInUse()
  const removal = Promise.withResolvers<void>()
  const removed = inUse.remove('s3', 'a', () => removal.promise)
  const order: string[] = []
  const held = inUse.hold('s3', ['b', 'a']).then(() => order.push('held'))
  void removed.catch(() => order.push('failed'))
  await inUse.hold('s3', ['b'])
  expect(order).toEqual([])
  removal.reject(new Error('storage is unavailable'))
  await held
  expect(order.toSorted()).toEqual(['failed', 'held'])
})

it('shares two removals of an object, so that storing waits for both', async () => {
  const inUse = new ArchivesInUse()
  const removal = Promise.withResolvers<void>()
  const removed = inUse.remove('s3', 'a', () => removal.promise)
  const second = remove()
  const shared = inUse.remove('s3', 'a', second)
  removal.resolve()
  expect(await Promise.all([removed, shared])).toEqual([true, true])
  expect(second).not.toHaveBeenCalled()
  expect(await inUse.remove('s3', 'a', second)).toBe(true)
  expect(second).toHaveBeenCalledTimes(1)
})

it('rejects a failed removal for everybody who shares it', async () => {
  const inUse = new ArchivesInUse()
  const removal = Promise.withResolvers<void>()
  const both = ['one', 'other'].map(() => inUse.remove('s3', 'a', () => removal.promise))
  removal.reject(new Error('storage is unavailable'))
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ])
})
