import { expect, it } from 'vitest'
import type { StoredRef } from '../../../records/store/store.ts'
import { sceneInFolder } from '../upstreams.fixture.ts'
import { DepotsInConflict } from './conflicts.ts'

const storageConfig = { fileSystem: { directoryPath: 'depot' } }
const config = (name: string) => {
  return { name, provider: 'aws', source: { type: 'git', url: `https://git.test/${name}.git` } }
}
const module = (name: string): StoredRef => ({ kind: 'Module', namespace: 'team', name })

it('a Depot waits for the resources of its own configs only, and while it is in conflict', async () => {
  const { scene } = await sceneInFolder()
  const spec = { moduleConfig: { ...config('vpc'), storageConfig }, versions: [] }
  await scene.write('Module', 'vpc', spec)
  const global = { storageConfig }
  await scene.write('Depot', 'main', { global, moduleConfigs: ['vpc', 'dns'].map(config) })
  await scene.write('Depot', 'other', { global, moduleConfigs: [config('iam')] })
  await scene.run()
  const conflicts = new DepotsInConflict({ objects: scene.objects, apiGroup: 'depot.internal' })
  const main = { kind: 'Depot', namespace: 'team', name: 'main' } as const
  expect(conflicts.waitingFor(module('vpc'))).toEqual([main])
  expect(conflicts.waitingFor({ ...module('vpc'), kind: 'Provider' })).toEqual([])
  expect(conflicts.waitingFor({ ...module('vpc'), namespace: 'else' })).toEqual([])
  expect(conflicts.waitingFor(module('iam'))).toEqual([])
  conflicts.follow(main, undefined)
  expect(conflicts.waitingFor(module('vpc'))).toEqual([])
})

it('a Depot waits in vain if the resource was deleted before its status said that it waits', async () => {
  const { scene } = await sceneInFolder()
  const spec = { moduleConfig: { ...config('vpc'), storageConfig }, versions: [] }
  await scene.write('Module', 'vpc', spec)
  await scene.write('Depot', 'main', { global: { storageConfig }, moduleConfigs: [config('vpc')] })
  await scene.run()
  const conflicts = new DepotsInConflict({ objects: scene.objects, apiGroup: 'depot.internal' })
  const main = { kind: 'Depot', namespace: 'team', name: 'main' } as const
  const waiting = scene.object('Depot', 'main')
  conflicts.follow(main, undefined)
  expect(conflicts.follow(main, waiting)).toBe(false)
  await scene.objects.delete(module('vpc'))
  expect(conflicts.follow(main, undefined)).toBe(false)
  expect(conflicts.follow(main, waiting)).toBe(true)
  expect(conflicts.follow(main, waiting)).toBe(false)
})
