import { expect, it, onTestFinished } from 'vitest'
import type { UpstreamPolicy } from '../../api/v1alpha1/v1alpha1.ts'
import { History, hour } from './policy-histories.fixture.ts'

const day = 24 * hour
const policy: UpstreamPolicy = { minimumAge: '7d' }

it('ages versions through exceptions, the end of a rule, restarts and restores', async () => {
  const history = await History.open('git')
  onTestFinished(() => history.close())
  const has = () => [...history.stored().keys()].toSorted()
  const edit = async (changed: UpstreamPolicy) => {
    await history.setPolicy(changed)
    await history.pass(0)
  }
  await history.setPolicy(policy)
  history.offer('1.0.0', 'a')
  await history.start()
  expect(has()).toEqual([])
  await history.pass(7 * day)
  expect(has()).toEqual(['1.0.0'])

  // A restart forgets no age.
  history.offer('1.0.1', 'a')
  await history.pass(13 * hour)
  await history.stop()
  await history.start()
  await history.pass(6 * day)
  expect(has()).toEqual(['1.0.0'])
  await history.pass(day)
  expect(has()).toEqual(['1.0.0', '1.0.1'])

  // An exception needs no age, and lets in one version.
  history.offer('1.1.0', 'a')
  history.offer('1.2.0', 'a')
  const { address } = history
  const except = { address, version: '1.2.0', reason: 'a repair', by: 'Ann' }
  await edit({ ...policy, exceptions: [except] })
  expect(has()).toEqual(['1.0.0', '1.0.1', '1.2.0'])

  // A rule that ends lets in what is old enough by then.
  const until = new Date(history.nowMs + 10 * day).toISOString()
  await edit({ ...policy, deny: [{ address, versions: '1.1.0', reason: 'looked at', until }] })
  await history.pass(9 * day)
  expect(has()).not.toContain('1.1.0')
  await history.pass(day)
  expect(has()).toContain('1.1.0')

  // A backup with statuses has the age of its time.
  history.offer('2.0.0', 'a')
  await history.pass(13 * hour)
  const saved = history.save()
  await history.pass(3 * day)
  await history.restore(saved)
  await history.start()
  await history.pass(2 * day)
  expect(has()).not.toContain('2.0.0')
  await history.pass(2 * day)
  expect(has()).toEqual(['1.0.0', '1.0.1', '1.1.0', '1.2.0', '2.0.0'])

  // One without statuses lets in again what the specs name, and removes nothing.
  const archives = await history.archives()
  await history.restore(history.save().map((object) => ({ ...object, status: undefined })))
  await history.start()
  expect(has()).toEqual(['1.0.0', '1.0.1', '1.1.0', '1.2.0', '2.0.0'])
  expect(await history.archives()).toEqual(expect.arrayContaining(archives))
})

it.each([1, 2])('raises one alarm for each content with %d controllers', async (processes) => {
  const history = await History.open('provider')
  onTestFinished(() => history.close())
  await history.setPolicy(policy)
  history.offer('1.0.0', 'a')
  await history.start(processes)
  // The fetch sees it first, then polls do, even after a restart.
  history.race('1.0.0', 'b')
  await history.pass(7 * day)
  await history.stop()
  await history.start(processes)
  await history.pass(day)
  expect(history.stored().size).toBe(0)
  expect(history.alarms).toHaveLength(1)
  expect(history.status(history.parent).listing?.replaced).toMatchObject([{ version: '1.0.0' }])
  // A poll sees it first.
  history.offer('1.0.0', 'c')
  await history.pass(day)
  expect(history.alarms).toHaveLength(2)
  await history.pass(7 * day)
  expect(history.stored().get('1.0.0 linux/amd64')).toBe('c')
  expect(history.alarms).toHaveLength(2)
})

it('waits a whole age for a platform that comes after another one was stored', async () => {
  const history = await History.open('provider')
  onTestFinished(() => history.close())
  const has = () => [...history.stored().keys()]
  history.offer('1.0.0', 'a')
  await history.start()
  await history.setPolicy(policy)
  await history.pass(0)
  expect(has()).toEqual(['1.0.0 linux/amd64'])
  // Its Version is created in the second in which the list that counts its age comes.
  history.offer('1.0.0', 'a', 2)
  await history.pass(day)
  await history.pass(6 * day)
  expect(has()).toEqual(['1.0.0 linux/amd64'])
  await history.pass(day)
  await history.pass(day)
  expect(has()).toEqual(['1.0.0 linux/amd64', '1.0.0 darwin/arm64'])
})

it('goes on with ages when a policy returns that was taken out for a minute', async () => {
  const history = await History.open('git')
  onTestFinished(() => history.close())
  const has = () => [...history.stored().keys()].toSorted()
  await history.setPolicy(policy)
  history.offer('1.0.1', 'a')
  await history.start()
  await history.pass(7 * day)
  // In a first list, it would count as old.
  history.offer('1.0.0', 'a')
  await history.pass(day)
  history.offer('1.0.0', 'b')
  await history.pass(day)
  const { seen, replaced, heldBack } = history.status(history.parent).listing ?? {}
  expect(heldBack).toHaveLength(1)
  expect(replaced).toHaveLength(1)
  history.fail('fetch', '1.0.0')
  for (const between of [undefined, { deny: [] }]) {
    await history.setPolicy(between)
    await history.pass(0)
    expect(history.status(history.parent).listing?.heldBack).toBeUndefined()
    await history.setPolicy(policy)
    await history.pass(0)
  }
  history.heal()
  expect(history.status(history.parent).listing).toMatchObject({ seen, heldBack })
  expect(history.status(history.parent).listing?.replaced).toEqual(replaced)
  await history.pass(6 * day)
  expect(has()).toEqual(['1.0.1'])
  await history.pass(day)
  expect(has()).toEqual(['1.0.0', '1.0.1'])
})
