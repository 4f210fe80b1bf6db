import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fingerprints, put } from '../../cmd/import/import.fixture.ts'
import { startUpstreams, type Upstreams } from '../../hack/testbed/upstream/upstreams.ts'
import { depot, PlanFolder } from './plan.fixture.ts'

let upstreams: Upstreams
let place: PlanFolder
const example = join(import.meta.dirname, '../../docs/examples/check-pull-request.sh')

beforeAll(async () => {
  upstreams = await startUpstreams()
  place = new PlanFolder(upstreams)
})
afterAll(async () => {
  place?.[Symbol.dispose]()
  await upstreams?.[Symbol.asyncDispose]()
})

it('the example of the documentation checks a pull request of a folder', async () => {
  const folder = join(place.dir, 'registry')
  put(join(folder, 'main.yaml'), depot('~> 1.0'))
  const first = await place.run(example, 'registry')
  expect(first).toMatchObject({ status: 0, stderr: '' })
  expect(readFileSync(join(place.dir, 'plan.md'), 'utf8')).toBe(`**Plan: 1 to create, 2 to fetch.**

| | object | change |
| --- | --- | --- |
| \`+\` | Module team/vpc | create: for Depot main |
| \`+\` | Module team/vpc | fetch 1.0.0, 1.1.0 |
`)
  expect(
    (await place.run('depot', 'sync', '--manifests', 'registry', '--archives', 'archives')).status,
  ).toBe(0)
  const files = fingerprints(folder)
  expect(await place.run('depot', 'plan', '--manifests', 'registry')).toMatchObject({
    status: 0,
    stdout: 'No changes: everything matches the manifests.\n',
  })
  expect(
    await place.run('depot', 'plan', '--manifests', 'registry', '--depot', 'team/mian'),
  ).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(
      'there is no Depot team/mian: did you mean team/main?',
    ) as string,
  })
  expect(fingerprints(folder)).toEqual(files)
  put(join(folder, 'main.yaml'), depot('~> 9.0'))
  const held = await place.run('depot', 'plan', '--manifests', 'registry')
  expect(held).toMatchObject({
    status: 2,
    stdout: expect.stringContaining('! Module team/vpc: 2 of 2 stored versions') as string,
  })
  put(join(folder, 'main.yaml'), depot('five'))
  const wrong = await place.run('depot', 'plan', '--manifests', 'registry')
  expect(wrong).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('x Depot team/main: Module vpc: ') as string,
  })
  put(join(folder, 'main.yaml'), 'kind: [')
  expect(await place.run('depot', 'plan', '--manifests', 'registry')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^depot: main\.yaml:1: /) as string,
  })
})

it('a check lists differences of storage or upstream from the records, and writes nothing', async () => {
  const folder = join(place.dir, 'checked')
  put(join(folder, 'main.yaml'), depot('>= 1.0'))
  const sync = (...flags: readonly string[]) =>
    place.run('depot', 'sync', '--manifests', 'checked', '--archives', 'checked-archives', ...flags)
  expect(await sync()).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^\+3 stored\n3 of 3 versions are stored\n$/m) as string,
    stderr: '',
  })
  expect(await sync('--check')).toMatchObject({ status: 0, stderr: '' })
  const [archive = ''] = readdirSync(join(place.dir, 'checked-archives'), {
    recursive: true,
    encoding: 'utf8',
  }).filter((file) => /vpc-1\.0\.0-\w+\.tar\.gz$/.test(file))
  rmSync(join(place.dir, 'checked-archives', archive))
  const { github } = upstreams
  github.tag('acme/vpc', 'v1.1.0', { 'main.tf': '# moved\n' })
  github.tag('acme/vpc', 'v3.0.0', { 'main.tf': '# new\n' })
  const files = fingerprints(place.dir).filter((line) => !line.startsWith('depot-sync'))
  const found = await sync('--check')
  expect(found).toMatchObject({ status: 1, stderr: '' })
  expect(found.stdout).toContain('+ Module team/vpc: fetch 3.0.0\n')
  expect(found.stdout).toContain(
    '~ Module team/vpc: fetch again, because the archive is missing or altered in storage, 1.0.0\n',
  )
  expect(found.stdout).toContain('! Module team/vpc: keep, although upstream changed, 1.1.0: ')
  expect(JSON.parse((await sync('--check', '-o', 'json')).stdout)).toMatchObject({
    summary: { fetch: 1, restore: 1, drift: 1 },
  })
  expect(fingerprints(place.dir).filter((line) => !line.startsWith('depot-sync'))).toEqual(files)
  expect(await sync()).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(
      '+1 stored, 1 stored again, ~1 drifted\n4 of 4 versions are stored\n',
    ) as string,
  })
})

it('a check reports lost documentation and READMEs, and the next run creates them again', async () => {
  put(join(place.dir, 'documented/main.yaml'), depot('~> 1.0'))
  const args = ['sync', '--manifests', 'documented', '--archives', 'documented-archives']
  const sync = (...flags: readonly string[]) => place.run('depot', ...args, ...flags)
  upstreams.github.tag('acme/vpc', 'v1.2.0', { 'main.tf': '', 'README.md': '# vpc\n' })
  expect(await sync()).toMatchObject({ status: 0, stderr: '' })
  expect(await sync('--check')).toMatchObject({ status: 0, stderr: '' })
  const [docs = ''] = readdirSync(join(place.dir, 'documented-archives'), {
    recursive: true,
    encoding: 'utf8',
  }).filter((file) => /vpc-1\.0\.0-.*\.docs\.json\.gz$/.test(file))
  rmSync(join(place.dir, 'documented-archives', docs))
  const version = join(place.dir, 'documented/versions/team/vpc-1-2-0.yaml')
  const text = readFileSync(version, 'utf8')
  writeFileSync(version, text.slice(0, text.indexOf('---')))
  const line = '~ Module team/vpc: make the documentation again of 1.0.0, 1.2.0\n'
  expect(await sync('--check')).toMatchObject({
    status: 1,
    stdout: `${line}Plan: 2 to document.\n`,
    stderr: '',
  })
  expect(await sync()).toMatchObject({ status: 0 })
  expect(await sync('--check')).toMatchObject({ status: 0 })
})

it('a run reports a failure once, with its reason', async () => {
  put(
    join(place.dir, 'failing/main.yaml'),
    depot('>= 1.0', 'none').replace('acme/vpc', 'acme/none'),
  )
  const args = ['sync', '--manifests', 'failing', '--archives', 'failing-archives']
  const { status, stdout, stderr } = await place.run('depot', ...args)
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
  expect(stdout).toMatch(
    /^Depot team\/none: 1 of 1 configs failed; none: .*\n1 failed: SyncFailed\n0 of 0 versions are stored\n$/,
  )
  const json = await place.run('depot', ...args, '-o', 'json')
  expect(JSON.parse(json.stdout)).toMatchObject({ stored: 0, problems: [expect.any(String)] })
})
