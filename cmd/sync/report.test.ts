import { expect, it } from 'vitest'
import { FillError } from '../../pkg/fill/sources/sources.ts'
import { sceneInFolder } from '../../pkg/fill/sync/upstreams.fixture.ts'
import { ApiError, type FolderObjects } from '../../pkg/records/store/store.ts'
import { outcomeOf, problemsOf } from './report.ts'

it('sums up how many versions are held back', async () => {
  const { scene } = await sceneInFolder()
  const url = 'https://git.test/vpc.git'
  scene.upstream.repository(url, { 'v1.0.0': '1', 'v1.1.0': '2' })
  await scene.write('Depot', 'main', {
    global: { storageConfig: { fileSystem: { directoryPath: 'depot' } } },
    moduleConfigs: [{ name: 'vpc', provider: 'aws', source: { type: 'git', url } }],
    policy: { minimumAge: '7d' },
  })
  await scene.run()
  expect(outcomeOf(scene.objects, { stored: 0, storedAgain: 0, removed: 0 }, undefined)).toBe(
    '2 held back',
  )
})

it('says why a status could not be written, whatever it says, in one line for all of a cause', async () => {
  const { scene } = await sceneInFolder()
  const url = 'https://git.test/vpc.git'
  const tags = ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0'].map((one) => [`v${one}`, one])
  scene.upstream.repository(url, Object.fromEntries(tags) as Record<string, string>)
  const full = new FillError('StorageFailed', 'the archive storage is full')
  for (const [tag = ''] of tags) scene.upstream.faults.set(`fetch ${url} ${tag}`, full)
  await scene.write('Depot', 'main', {
    global: { storageConfig: { fileSystem: { directoryPath: 'depot' } } },
    moduleConfigs: [{ name: 'vpc', provider: 'aws', source: { type: 'git', url } }],
  })
  await scene.run()
  const unwritten = (name: string) => {
    const cause = Object.assign(new Error(`ENOSPC: no space left on device, open '${name}'`), {
      code: 'ENOSPC',
    })
    const message = `${name}.yaml cannot be written: ${cause.message}`
    return [
      `Version ${scene.namespace}/${name}`,
      new ApiError('Unavailable', message, { cause }),
    ] as const
  }
  const failing = new Map<string, unknown>([
    ...scene.failing().map((title) => [title, new Error('told already')] as const),
    ...['dns-1-0-0', 'dns-1-1-0', 'vpc-1-4-0'].map(unwritten),
  ])
  const problems = problemsOf(scene.objects as FolderObjects, failing)
  expect(problems).toEqual([
    expect.stringMatching(/^Version team\/vpc-.* and 1 more: the archive storage is full$/),
    expect.stringMatching(
      /^Version team\/vpc-1-4-0, team\/dns-1-0-0, team\/dns-1-1-0: vpc-1-4-0.yaml cannot be written: ENOSPC/,
    ),
  ])
})

it('names up to three failed configs of a Depot, and how many more there are', async () => {
  const { scene } = await sceneInFolder()
  const failing = ['dns', 'gke', 'rds', 'vpc']
  scene.upstream.repository('https://git.test/iam.git', { 'v1.0.0': '1' })
  for (const name of failing) {
    const error = new FillError('UpstreamNotFound', `there is no repository ${name}`)
    scene.upstream.faults.set(`https://git.test/${name}.git`, error)
  }
  await scene.write('Depot', 'main', {
    global: { storageConfig: { fileSystem: { directoryPath: 'depot' } } },
    moduleConfigs: ['iam', ...failing.toReversed()].map((name) => ({
      name,
      provider: 'aws',
      source: { type: 'git', url: `https://git.test/${name}.git` },
    })),
  })
  await scene.run()
  const [problem, ...others] = problemsOf(scene.objects as FolderObjects)
  expect(others).toEqual([])
  const named = ['dns', 'gke', 'rds'].map((name) => `${name}: there is no repository ${name}`)
  expect(problem).toBe(
    `Depot team/main: 4 of 5 configs failed; ${named.join('; ')}; 1 more, see status.items`,
  )
})
