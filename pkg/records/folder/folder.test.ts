import { writeFileSync } from 'node:fs'
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { cpuTimeMs } from '../../../hack/testbed/cpu-time.ts'
import { RecordingSink } from '../../../hack/testbed/recording-sink.ts'
import type { Change, Kind, Replacement, Resource, Version } from '../../api/v1alpha1/v1alpha1.ts'
import { watchManifests } from './folder.ts'
import { moduleText, startSource, versionText } from './source.fixture.ts'

/** Scans are up to 30 s apart if they take long, as on a busy machine. */
const wait = { timeout: 120_000, interval: 20 }
const broken = 'apiVersion: depot.internal/v1alpha1\nkind: [\n'
const bomb = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  .map((name, i, names) => `${name}: &${name} [${`*${names[i - 1] ?? 'none'},`.repeat(9)}]\n`)
  .join('')
  .replaceAll('*none', 'x')
const invalid = (name: string) => moduleText(name).replace('spec:', 'spex:')

it('loads documents, lists, JSON and subfolders, and nothing else', async () => {
  const item = (name: string) => `- ${moduleText(name).trimEnd().replaceAll('\n', '\n  ')}\n`
  await using source = await startSource({
    'a.yaml': `# two\n${moduleText('a1')}---\n${moduleText('a2')}---\n# nothing\n`,
    'deep/er/b.yml': `apiVersion: v1\nitems:\n${item('b1')}${item('b2')}kind: List\n`,
    'c.json': JSON.stringify({
      apiVersion: 'depot.internal/v1alpha1',
      kind: 'ModuleList',
      items: [{ metadata: { name: 'c1' }, spec: { moduleConfig: {} } }],
    }),
    'd.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: d1}\n',
    'other.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: no}\n---\nresources: [a.yaml]\n',
    'notes.txt': moduleText('no'),
    '.hidden.yaml': moduleText('no'),
    '.git/a.yaml': moduleText('no'),
    'a.yaml~': moduleText('no'),
    '4913': moduleText('no'),
    'comment.yaml': '# Nothing yet.\n',
  })
  const modules = ['a1', 'a2', 'b1', 'b2', 'c1'].map((name) => `Module ${name}`)
  expect(source.sink.names).toEqual([...modules, 'Namespace d1'])
  expect(await source.rejected()).toEqual([])
})

it.each([
  ['empty', ''],
  ['full of blanks', '\n \n'],
  ['full of NUL bytes, as after a power cut', '\0'.repeat(100)],
])('serves the previous content of a file that becomes %s', async (_, text) => {
  await using source = await startSource({ 'a.yaml': moduleText('a'), 'b.json': text })
  const empty = (count: number) => [`{kind="unknown",reason="InvalidSyntax"} ${count}`]
  expect(await source.rejected()).toEqual(empty(1))
  await source.write('a.yaml', text)
  await vi.waitFor(async () => expect(await source.rejected()).toEqual(empty(2)), wait)
  expect(source.sink.names).toEqual(['Module a'])
})

it('reports that everything was read, and how long changes take', async () => {
  await using source = await startSource({ 'a.yaml': moduleText('a') })
  const metrics = async () => source.metrics.metrics()
  expect(await metrics()).toContain('depot_catalog_synced{kind="Module"} 1')
  for (const reason of ['Invalid', 'Internal']) {
    expect(await metrics()).toContain(
      `depot_catalog_rejected_objects{kind="Module",reason="${reason}"} 0`,
    )
  }
  await source.write('b.yaml', moduleText('b'))
  await vi.waitFor(
    async () =>
      expect(await metrics()).toContain('depot_catalog_change_lag_seconds_count{kind="Module"} 1'),
    wait,
  )
})

it('follows added, changed and deleted files', async () => {
  await using source = await startSource({ 'a.yaml': moduleText('a') })
  await source.write('new/b.yaml', moduleText('b'))
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module a', 'Module b']), wait)
  await source.write('new/b.yaml', moduleText('b', 'gcp'))
  await vi.waitFor(
    () =>
      expect(source.sink.objects.get('Module b')).toMatchObject({
        spec: { moduleConfig: { provider: 'gcp' } },
      }),
    wait,
  )
  await rm(join(source.dir, 'new'), { recursive: true })
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module a']), wait)
  expect(source.sink.changes).toEqual(['upsert Module b', 'upsert Module b', 'delete Module b'])
})

it('logs one line for each change, with counts and the first names', async () => {
  await using source = await startSource({ 'a.yaml': moduleText('a') })
  const said = () => source.logged('manifests changed')
  const names = ['b', 'c', 'd', 'e', 'f', 'g']
  const text = names.map((name) => moduleText(name)).join('---\n')
  await source.write('more.yaml', text)
  await vi.waitFor(() => expect(source.sink.names).toHaveLength(7), wait)
  expect(said()).toEqual([
    expect.objectContaining({
      level: 'info',
      component: 'manifests',
      added: 6,
      objects: ['b', 'c', 'd', 'e', 'f'].map((name) => `Module default/${name}`),
    }),
  ])
  expect(said()[0]).not.toHaveProperty('changed')
  await rename(join(source.dir, 'more.yaml'), join(source.dir, 'renamed.yaml'))
  await source.write('renamed.yaml', `# a comment\n${text}`)
  await source.write('a.yaml', moduleText('a', 'gcp'))
  await vi.waitFor(() => expect(said()).toHaveLength(2), wait)
  expect(said()[1]).toMatchObject({ changed: 1, objects: ['Module default/a'] })
  await rm(join(source.dir, 'a.yaml'))
  await vi.waitFor(() => expect(said()).toHaveLength(3), wait)
  expect(said()[2]).toMatchObject({ removed: 1, objects: ['Module default/a'] })
})

it('passes on nothing when files and folders are renamed and objects move', async () => {
  const [a, b] = [moduleText('a'), moduleText('b')]
  await using source = await startSource({
    'x/a.yaml': `${a}---\n${b}`,
    'x/y/c.yaml': moduleText('c'),
  })
  await rename(join(source.dir, 'x/a.yaml'), join(source.dir, 'x/z.yaml'))
  await rename(join(source.dir, 'x'), join(source.dir, 'w'))
  await source.write('w/z.yaml', a)
  await source.write('w/new.yaml', b)
  await source.write('last.yaml', moduleText('last'))
  await vi.waitFor(() => expect(source.sink.names).toHaveLength(4), wait)
  await source.write('w/y/c.yaml', moduleText('c', 'gcp'))
  await vi.waitFor(() => expect(source.sink.changes).toHaveLength(2), wait)
  expect(source.sink.changes).toEqual(['upsert Module last', 'upsert Module c'])
})

it('keeps the content of a file that breaks, through a rename, until it is fixed', async () => {
  const text = `${moduleText('a')}---\n${moduleText('b')}`
  await using source = await startSource({ 'a.yaml': text })
  await source.write('a.yaml', `${broken}---\n${moduleText('b', 'gcp')}`)
  await vi.waitFor(() => expect(source.logged('object rejected')).toHaveLength(1), wait)
  expect(source.logged('object rejected')[0]).toMatchObject({
    level: 'warn',
    file: 'a.yaml',
    line: 3,
    reason: 'InvalidSyntax',
  })
  expect(await source.rejected()).toEqual(['{kind="unknown",reason="InvalidSyntax"} 1'])
  await vi.waitFor(() => expect(source.sink.changes).toEqual(['upsert Module b']), wait)

  await rename(join(source.dir, 'a.yaml'), join(source.dir, 'b.yaml'))
  await vi.waitFor(() => expect(source.logged('object rejected')).toHaveLength(2), wait)
  expect(source.sink.names).toEqual(['Module a', 'Module b'])

  await source.write('b.yaml', moduleText('b', 'gcp'))
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module b']), wait)
  expect(await source.rejected()).toEqual([])
  expect(source.logged('object accepted again')).toMatchObject([{ level: 'info', file: 'b.yaml' }])
})

it('keeps the content of a broken file, even after the file was missing for a moment', async () => {
  await using source = await startSource({ 'a.yaml': moduleText('a'), 'b.yaml': moduleText('b') })
  await source.write('a.yaml', broken)
  await vi.waitFor(async () => expect(await source.rejected()).toHaveLength(1), wait)
  await rename(join(source.dir, 'a.yaml'), join(source.dir, '.aside'))
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module b']), wait)
  await rename(join(source.dir, '.aside'), join(source.dir, 'a.yaml'))
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module a', 'Module b']), wait)
  await source.write('a.yaml', moduleText('c'))
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module b', 'Module c']), wait)
})

it('reports once which part of a valid object cannot work', async () => {
  const text = (fileName: string) => `apiVersion: depot.internal/v1alpha1
kind: Version
metadata: {name: v, namespace: team}
spec: {type: Module, version: 1.0.0, fileName: '${fileName}', moduleConfigRef: {name: a}}
`
  await using source = await startSource({ 'v.yaml': text('../a.zip') })
  const said = () => source.logged('object cannot work as it is')
  expect(said()).toMatchObject([
    { level: 'warn', file: 'v.yaml', line: 1, kind: 'Version', name: 'v', field: 'spec.fileName' },
  ])
  await source.write('v.yaml', `${text('../a.zip')}# the same\n---\n${moduleText('a')}`)
  await vi.waitFor(() => expect(source.sink.names).toContain('Module a'), wait)
  expect(said()).toHaveLength(1)
  await source.write('v.yaml', text('a.rar'))
  await vi.waitFor(() => expect(said()).toHaveLength(2), wait)
  expect(said()[1]).toMatchObject({ message: expect.stringContaining('.zip, .tar.gz or .tgz') })
})

it('replaces half characters as API servers do, and reports an invalid name', async () => {
  const half = moduleText('half').replace(
    'metadata:\n',
    'metadata:\n  labels: {half: "a\\ud83d"}\n',
  )
  await using source = await startSource({ 'a.yaml': half, 'b.yaml': moduleText('"a/b"') })
  const { metadata } = source.sink.objects.get('Module half') ?? {}
  expect(metadata?.labels).toEqual({ half: 'a\ufffd' })
  expect(source.logged('object cannot work as it is')).toContainEqual(
    expect.objectContaining({ file: 'b.yaml', field: 'metadata.name' }),
  )
})

it('reports once which part of a valid object has no effect', async () => {
  const binding = (namespace: string) => `apiVersion: depot.internal/v1alpha1
kind: GroupBinding
metadata: {name: all, namespace: ${namespace}}
spec: {expression: 'true', moduleResources: [], providerResources: []}
`
  const label = moduleText('a').replace(
    'metadata:\n',
    'metadata:\n  labels: {depot.internal/public: "True"}\n',
  )
  await using source = await startSource(
    {
      'a.yaml': label,
      'b.yaml': `${binding('team')}---\n${binding('depot-system')}`,
      'c.yaml': moduleText('c').replace('moduleConfig:', 'ModuleConfig: {}\n  moduleConfig:'),
    },
    { namespace: 'depot-system' },
  )
  expect(source.logged('object cannot work as it is')).toMatchObject([
    {
      file: 'a.yaml',
      name: 'a',
      field: 'metadata.labels.depot.internal/public',
      message: expect.stringContaining('is "True", which makes nothing public: write "true"'),
    },
    {
      file: 'b.yaml',
      kind: 'GroupBinding',
      namespace: 'team',
      message: expect.stringContaining('are read from namespace depot-system only'),
    },
    {
      file: 'c.yaml',
      field: 'spec.ModuleConfig',
      message: expect.stringContaining('write moduleConfig'),
    },
  ])
})

it('reports mistakes in the order of the files, in whichever order they are read', async () => {
  const wrong = (name: string) => moduleText(name).replace('spec:', 'spec:\n  oops: 1')
  const many = Array.from({ length: 500 }, (_, index) => moduleText(`m${index}`))
  const text = [wrong('a'), ...many].join('---\n')
  await using source = await startSource({ 'a.yaml': text, 'b.yaml': wrong('b') })
  const said = source.logged('object cannot work as it is')
  expect(said).toMatchObject([{ file: 'a.yaml' }, { file: 'b.yaml' }])
})

it('keeps the previous content of an object that becomes invalid', async () => {
  await using source = await startSource({ 'a.yaml': `${moduleText('a')}---\n${moduleText('b')}` })
  await source.write('a.yaml', `${invalid('a')}---\n${moduleText('b')}`)
  await vi.waitFor(() => expect(source.logged('object rejected')).toHaveLength(1), wait)
  expect(source.logged('object rejected')[0]).toMatchObject({
    file: 'a.yaml',
    line: 1,
    kind: 'Module',
    namespace: 'default',
    name: 'a',
    field: 'spec',
    message: 'is required (object)',
    reason: 'Invalid',
  })
  expect(await source.rejected()).toEqual(['{kind="Module",reason="Invalid"} 1'])
  await source.write('a.yaml', moduleText('a'))
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module a']), wait)
  expect(source.sink.changes).toEqual(['delete Module b'])
  expect(source.logged('object accepted again')).toMatchObject([{ kind: 'Module', name: 'a' }])
})

it('drops a broken object that is deleted', async () => {
  await using source = await startSource({ 'a.yaml': moduleText('a'), 'b.yaml': moduleText('b') })
  await source.write('a.yaml', invalid('a'))
  await vi.waitFor(async () => expect(await source.rejected()).toHaveLength(1), wait)
  await rm(join(source.dir, 'a.yaml'))
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module b']), wait)
  expect(await source.rejected()).toEqual([])
  expect(source.logged('object accepted again')).toEqual([])
})

it('uses the first of two definitions and names both', async () => {
  await using source = await startSource({
    'a.yaml': moduleText('a', 'first'),
    'b.yaml': `# second\n${moduleText('a', 'second')}`,
  })
  const provider = () => source.sink.objects.get('Module a')
  expect(provider()).toMatchObject({ spec: { moduleConfig: { provider: 'first' } } })
  expect(source.logged('object rejected')).toMatchObject([
    { file: 'b.yaml', line: 2, message: 'is already defined in a.yaml:1; remove one of the two' },
  ])
  expect(await source.rejected()).toEqual(['{kind="Module",reason="Duplicate"} 1'])
  await rm(join(source.dir, 'a.yaml'))
  await vi.waitFor(
    () => expect(provider()).toMatchObject({ spec: { moduleConfig: { provider: 'second' } } }),
    wait,
  )
  expect(source.sink.changes).toEqual(['upsert Module a'])
  expect(await source.rejected()).toEqual([])
})

describe('a status in a separate file', () => {
  const status = (text: string) => `apiVersion: depot.internal/v1alpha1
kind: Version
metadata: {name: a-1.0.0}
status: ${text}
`
  const version = (source: Awaited<ReturnType<typeof startSource>>) =>
    source.sink.objects.get('Version a-1.0.0') as Version | undefined

  it("belongs to the object, whatever status the object's file has", async () => {
    await using source = await startSource({
      'a.yaml': versionText('a', '1.0.0', 'status: {synced: false, checksum: old}\n'),
      'a-1.0.0.status.yaml': status('{synced: true, checksum: new}'),
    })
    expect(version(source)?.status).toEqual({ synced: true, checksum: 'new' })
    await source.write('a-1.0.0.status.yaml', status('{synced: true, checksum: newer}'))
    await vi.waitFor(
      () => expect(version(source)?.status).toMatchObject({ checksum: 'newer' }),
      wait,
    )
    await rm(join(source.dir, 'a-1.0.0.status.yaml'))
    await vi.waitFor(() => expect(version(source)?.status).toMatchObject({ checksum: 'old' }), wait)
    expect(await source.rejected()).toEqual([])
  })

  it('has no effect without the object', async () => {
    await using source = await startSource({
      'a.yaml': versionText('a', '1.0.0'),
      'x/a-1.0.0.status.yaml': status('{synced: true, checksum: new}'),
    })
    await rm(join(source.dir, 'a.yaml'))
    await vi.waitFor(() => expect(source.sink.names).toEqual([]), wait)
    await source.write('b.yaml', versionText('a', '1.0.0'))
    await vi.waitFor(() => expect(version(source)?.status).toMatchObject({ checksum: 'new' }), wait)
    expect(await source.rejected()).toEqual([])
  })

  it('is reported if it is invalid or there are two, and the object is served', async () => {
    await using source = await startSource({
      'a.yaml': versionText('a', '1.0.0'),
      'a.status.yaml': status('{checksum: one}'),
      'b.status.yaml': status('{checksum: two}'),
      'c.status.yaml': status('{checksum: 1}'),
    })
    expect(version(source)?.status).toMatchObject({ checksum: 'one' })
    expect(source.logged('object rejected')).toMatchObject([
      { file: 'c.status.yaml', line: 4, field: 'status.checksum' },
      { file: 'b.status.yaml', message: expect.stringContaining('in a.status.yaml:1') },
    ])
  })
})

it('follows the swap of links by which the kubelet updates a volume', async () => {
  await using source = await startSource({
    '..v1/a.yaml': moduleText('a'),
    '..v2/a.yaml': moduleText('b'),
  })
  const at = (path: string) => join(source.dir, path)
  await symlink('..v1', at('..data'))
  await symlink('..data/a.yaml', at('a.yaml'))
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module a']), wait)
  await symlink('..v2', at('..data_tmp'))
  await rename(at('..data_tmp'), at('..data'))
  await rm(at('..v1'), { recursive: true })
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module b']), wait)
  expect(await source.rejected()).toEqual([])
})

it('follows circular links once, and reads nothing twice', async () => {
  await using source = await startSource({ 'x/a.yaml': moduleText('a') })
  await symlink('..', join(source.dir, 'x/up'))
  await symlink('x', join(source.dir, 'same'))
  await symlink('/', join(source.dir, 'all'))
  await symlink('x/a.yaml', join(source.dir, 'a.yaml'))
  await source.write('x/b.yaml', moduleText('b'))
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module a', 'Module b']), wait)
  expect(await source.rejected()).toEqual([])
})

it('keeps the content of a file that becomes unreadable', async () => {
  await using source = await startSource({
    '../a.yaml': moduleText('a'),
    'dir.yaml/b.yaml': moduleText('b'),
  })
  await symlink('../a.yaml', join(source.dir, 'a.yaml'))
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module a', 'Module b']), wait)
  await rm(join(source.dir, '../a.yaml'))
  await vi.waitFor(
    async () => expect(await source.rejected()).toEqual(['{kind="unknown",reason="Unreadable"} 1']),
    wait,
  )
  expect(source.sink.names).toEqual(['Module a', 'Module b'])
  await rm(join(source.dir, 'a.yaml'))
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module b']), wait)
  expect(await source.rejected()).toEqual([])
})

it('keeps everything while the folder is missing, and continues when it returns', async () => {
  await using source = await startSource({ 'a.yaml': moduleText('a') })
  await rename(source.dir, `${source.dir}.moved`)
  await vi.waitFor(async () => expect(await source.rejected()).toHaveLength(1), wait)
  expect(source.sink.names).toEqual(['Module a'])
  await mkdir(source.dir)
  await source.write('b.yaml', moduleText('b'))
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module b']), wait)
  expect(await source.rejected()).toEqual([])
})

it.each([
  ['a tab for indentation', 'kind: Module\n\tspec: 1\n', 'InvalidSyntax', { line: 2 }],
  ['a key that stands twice', 'kind: Module\nspec: 1\nspec: 2\n', 'InvalidSyntax', { line: 3 }],
  ['an anchor that is missing', 'kind: *a\n', 'InvalidSyntax', {}],
  ['an object that holds itself', 'kind: Module\nspec: &a\n  b: *a\n', 'Invalid', { line: 1 }],
  ['lists without end', `a: ${'['.repeat(20_000)}`, 'InvalidSyntax', {}],
  ['aliases that explode', bomb, 'InvalidSyntax', {}],
  ['a document that is too large', `a: "${'x'.repeat(5_000_000)}"`, 'InvalidSyntax', { line: 1 }],
  ['bytes that are not text', Buffer.from([0x61, 0x0a, 0xff]), 'InvalidSyntax', { line: 2 }],
  ['half of a document', '---\napiVersi', 'Invalid', { line: 2 }],
  [
    'a kind that does not exist',
    'apiVersion: depot.internal/v1alpha1\nkind: Modul\n',
    'Invalid',
    { line: 2 },
  ],
  ['another version', moduleText('x').replace('v1alpha1', 'v1'), 'Invalid', { line: 1 }],
  ['no kind', moduleText('x').replace('kind: Module\n', ''), 'Invalid', { line: 1 }],
  ['no name', moduleText('x').replace('name: x', 'label: x'), 'Invalid', { line: 4 }],
  ['a number for a version', versionText('x', '1.0'), 'Invalid', { line: 7 }],
])('reports %s, and serves the rest', async (_, text, reason, line) => {
  await using source = await startSource({ 'a.yaml': moduleText('a') })
  await source.write('x.yaml', text)
  await vi.waitFor(() => expect(source.logged('object rejected')).toHaveLength(1), wait)
  expect(source.logged('object rejected')[0]).toMatchObject({ file: 'x.yaml', reason, ...line })
  expect(source.sink.names).toEqual(['Module a'])
})

it.each([
  ['a byte order mark', `\uFEFF${moduleText('a')}`],
  ['Windows line ends', moduleText('a').replaceAll('\n', '\r\n')],
  ['UTF-16', Buffer.from(`\uFEFF${moduleText('a')}`, 'utf16le')],
  ['a directive', `%YAML 1.2\n---\n${moduleText('a')}...\n`],
  ['merge keys', moduleText('a').replace('provider: aws', '<<: {provider: aws}')],
])('reads %s', async (_, text) => {
  await using source = await startSource({})
  await source.write('a.yaml', text)
  await vi.waitFor(() => expect(source.sink.names).toEqual(['Module a']), wait)
  expect(await source.rejected()).toEqual([])
})

it('reads two documents below a directive', async () => {
  const text = `%YAML 1.2\n---\n${moduleText('a')}---\n${moduleText('b')}`
  await using source = await startSource({ 'a.yaml': text })
  expect(source.sink.names).toEqual(['Module a', 'Module b'])
  expect(await source.rejected()).toEqual([])
})

it('never serves less while a file is written in place', async () => {
  const names = Array.from({ length: 50 }, (_, i) => `m${i}`)
  const text = (system: string) => names.map((name) => moduleText(name, system)).join('---\n')
  await using source = await startSource({ 'a.yaml': text('aws') })
  for (let i = 0; i < 30; i++) {
    await source.write('a.yaml', i % 2 === 0 ? '' : text(`s${i}`))
  }
  const last = () => source.sink.objects.get('Module m49')
  await vi.waitFor(
    () => expect(last()).toMatchObject({ spec: { moduleConfig: { provider: 's29' } } }),
    wait,
  )
  expect(source.sink.changes.filter((change) => change.startsWith('delete'))).toEqual([])
})

it('reads 5,000 objects in one file without blocking the process', async () => {
  const item = (i: number) =>
    `- ${versionText('vpc', `1.0.${i}`).trimEnd().replaceAll('\n', '\n  ')}\n`
  const items = Array.from({ length: 5_000 }, (_, i) => item(i))
  let longestMs = 0
  let lastMs = cpuTimeMs()
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, cpuTimeMs() - lastMs)
    lastMs = cpuTimeMs()
  }, 1)
  await using source = await startSource({
    'all.yaml': `apiVersion: v1\nkind: List\nitems:\n${items.join('')}`,
  })
  clearInterval(timer)
  expect(source.sink.objects.size).toBe(5_000)
  expect(longestMs).toBeLessThan(1_000)
  items[7] = item(7).replace('type: Module', 'type: Policy')
  items[8] = item(9_999)
  await source.write('all.yaml', `apiVersion: v1\nkind: List\nitems:\n${items.join('')}`)
  await vi.waitFor(() => expect(source.sink.names).toContain('Version vpc-1.0.9999'), wait)
  expect(source.sink.changes.toSorted()).toEqual([
    'delete Version vpc-1.0.8',
    'upsert Version vpc-1.0.9999',
  ])
  expect(source.logged('object rejected')).toMatchObject([
    { line: 4 + 7 * 10 + 5, name: 'vpc-1.0.7', field: 'spec.type' },
  ])
})

it.each([
  ['missing', 'nowhere', 'does not exist'],
  ['a file', 'manifests/a.yaml', 'is not a folder'],
])('refuses to start on a folder that is %s', async (_, name, problem) => {
  await using source = await startSource({ 'a.yaml': moduleText('a') })
  const dir = join(source.dir, '..', name)
  await expect(watchManifests({ ...source.options(), dir })).rejects.toThrow(
    `manifests folder ${dir} ${problem}; correct --manifests`,
  )
})

describe('links', () => {
  it('into the kernel are reported and block nothing', async () => {
    await using source = await startSource({ 'a.yaml': moduleText('a') })
    await symlink('/proc', join(source.dir, 'processes'))
    await symlink('/proc/self/status', join(source.dir, 'status.yaml'))
    await symlink('/sys', join(source.dir, 'system'))
    await source.write('b.yaml', moduleText('b'))
    await vi.waitFor(() => expect(source.sink.names).toEqual(['Module a', 'Module b']), wait)
    await vi.waitFor(
      () =>
        expect(
          source
            .logged('object rejected')
            .map(({ file }) => file)
            .toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
        ).toEqual(['processes', 'status.yaml', 'system']),
      wait,
    )
  })

  it('to another folder are followed, but links inside of that are not', async () => {
    await using elsewhere = await startSource({ 'deep/c.yaml': moduleText('c') })
    await symlink('/usr', join(elsewhere.dir, 'deep/usr'))
    await using source = await startSource({ 'a.yaml': moduleText('a') })
    await symlink(elsewhere.dir, join(source.dir, 'linked'))
    await vi.waitFor(() => expect(source.sink.names).toEqual(['Module a', 'Module c']), wait)
    expect(await source.rejected()).toEqual([])
  })
})

describe('a folder that becomes empty at once', () => {
  const files = { 'a.yaml': moduleText('a'), 'b.yaml': moduleText('b') }
  const empty = async (dir: string) => {
    await rename(dir, `${dir}-moved`)
    await mkdir(dir)
  }

  it('counts as a volume that is not mounted: the previous content stays, and the log says so', async () => {
    await using source = await startSource(files)
    await empty(source.dir)
    await vi.waitFor(
      () =>
        expect(source.logged('manifests cannot be read, what was read last stays')).toHaveLength(1),
      wait,
    )
    expect(source.sink.names).toEqual(['Module a', 'Module b'])
    expect(await source.rejected()).toEqual(['{kind="unknown",reason="Unreadable"} 1'])
    // There was no folder between the two steps of this test, and a scan may have noticed that.
    await vi.waitFor(
      () =>
        expect(JSON.stringify(source.logged('object rejected'))).toContain(
          '--allow-empty-manifests',
        ),
      wait,
    )
    await source.write('b.yaml', moduleText('b'))
    await vi.waitFor(() => expect(source.sink.names).toEqual(['Module b']), wait)
    expect(await source.rejected()).toEqual([])
  })

  it('removes everything if that was allowed', async () => {
    await using source = await startSource(files, { allowEmpty: true })
    await empty(source.dir)
    await vi.waitFor(() => expect(source.sink.names).toEqual([]), wait)
  })

  it('removes everything if its files were removed one by one', async () => {
    await using source = await startSource(files)
    await rm(join(source.dir, 'a.yaml'))
    await vi.waitFor(() => expect(source.sink.names).toEqual(['Module b']), wait)
    await rm(join(source.dir, 'b.yaml'))
    await vi.waitFor(() => expect(source.sink.names).toEqual([]), wait)
  })
})

it('changes the objects of one file in one step', async () => {
  const file = (system: string) =>
    Array.from({ length: 800 }, (_, i) => moduleText(`m${i}`, system)).join('---\n')
  await using source = await startSource({ 'a.yaml': file('aws') })
  const systems = () =>
    new Set(
      [...source.sink.objects.values()].map((one) =>
        one.kind === 'Module' ? one.spec.moduleConfig.provider : undefined,
      ),
    )
  const seen: number[] = []
  let watching = true
  const look = () => {
    seen.push(systems().size)
    if (watching) setImmediate(look)
  }
  look()
  await source.write('a.yaml', file('gcp'))
  await vi.waitFor(() => expect([...systems()]).toEqual(['gcp']), wait)
  watching = false
  expect(new Set(seen)).toEqual(new Set([1]))
})

it('changes the platforms of a release in one step, although each has a file', async () => {
  const platforms = ['darwin', 'linux', 'windows']
  const write = (dir: string, retain: boolean) => {
    for (const os of platforms) {
      const spec = `type: Provider\n  version: 1.0.0\n  operatingSystem: ${os}\n  architecture: amd64\n  retain: ${retain}`
      writeFileSync(
        join(dir, `${os}.yaml`),
        `apiVersion: depot.internal/v1alpha1\nkind: Version\nmetadata:\n  name: ${os}\nspec:\n  ${spec}\n`,
      )
    }
  }
  const sink = new SlowSink()
  await using source = await startSource({}, { sink })
  const retained = () =>
    Array.from(sink.resources, (one) => one.kind === 'Version' && one.spec.retain === true)
  write(source.dir, false)
  await vi.waitFor(() => expect(retained()).toEqual([false, false, false]), wait)
  const seen = new Set<string>()
  let watching = true
  const look = () => {
    seen.add(retained().join())
    if (watching) setImmediate(look)
  }
  look()
  write(source.dir, true)
  await vi.waitFor(() => expect(retained()).toEqual([true, true, true]), wait)
  watching = false
  expect([...seen]).toEqual(['false,false,false', 'true,true,true'])
})

describe('READMEs', () => {
  const configMap = (name: string, metadata: string, text: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${metadata}data:\n  README.md: |\n    ${text}\n`
  const label = '  labels:\n    depot.internal/readme: "true"\n'
  const owned =
    '  ownerReferences:\n    - {apiVersion: depot.internal/v1alpha1, kind: Version, name: a-1.0.0}\n'

  it('are ConfigMaps with the label, or owned by the Version that shows them', async () => {
    await using source = await startSource({
      'labelled.yaml': configMap('labelled', label, '# Labelled'),
      'owned.yaml': configMap('owned', owned, Buffer.from('# Größe').toString('base64')),
      'other.yaml': configMap('other', '', '# Not to be read'),
      'foreign.yaml': configMap('foreign', owned.replace('depot.internal', 'x.test'), '# Foreign'),
      'typed.yaml': configMap('typed', label, '').replace('README.md', 'interface.json'),
    })
    const get = (name: string, version = 'a-1.0.0', key = 'README.md') =>
      source.readmes.get('default', name, key, version)
    expect(get('typed', 'a-1.0.0', 'interface.json')).toBeUndefined()
    expect([get('labelled'), get('labelled', 'b')]).toEqual(['# Labelled\n', '# Labelled\n'])
    expect([get('owned'), get('owned', 'b')]).toEqual(['# Größe', undefined])
    expect([get('other'), get('foreign')]).toEqual([undefined, undefined])
    const before = source.readmes.revision
    await source.write('labelled.yaml', configMap('labelled', label, '# New'))
    await vi.waitFor(() => expect(get('labelled')).toBe('# New\n'), wait)
    expect(source.readmes.revision).toBeGreaterThan(before)
    await rm(join(source.dir, 'labelled.yaml'))
    await vi.waitFor(() => expect(get('labelled')).toBeUndefined(), wait)
    expect(await source.rejected()).toEqual([])
  })

  it('are read from their own files rather than from those of Versions', async () => {
    await using source = await startSource({
      'versions/team/a-1-0-0.yaml': configMap('a-1-0-0-readme', label, '# Old'),
      'configmaps/team/a-1-0-0-readme.yaml': configMap('a-1-0-0-readme', label, '# Newest'),
    })
    const get = () => source.readmes.get('default', 'a-1-0-0-readme', 'README.md', 'a-1-0-0')
    expect(get()).toBe('# Newest\n')
    await rm(join(source.dir, 'configmaps'), { recursive: true })
    await vi.waitFor(() => expect(get()).toBe('# Old\n'), wait)
  })
})

/** Takes each change as slowly as a busy processor. */
class SlowSink extends RecordingSink {
  override apply(change: Change): void {
    const untilMs = performance.now() + 6
    while (performance.now() < untilMs);
    super.apply(change)
  }
}

/** Refuses Modules with the name bad. */
class ChoosySink extends RecordingSink {
  override apply(change: Change): void {
    if (change.type === 'upsert') refuseBad(change.resource)
    super.apply(change)
  }

  override beginReplace(kind: Kind): Replacement {
    const replacement = super.beginReplace(kind)
    const add = (resource: Resource) => {
      refuseBad(resource)
      replacement.add(resource)
    }
    return { ...replacement, add }
  }
}

const refuseBad = ({ metadata }: Resource): void => {
  if (metadata.name === 'bad') throw new Error('cannot be taken')
}

it('serves the other objects if the catalog refuses one', async () => {
  const sink = new ChoosySink()
  await using source = await startSource(
    { 'a.yaml': `${moduleText('bad')}---\n${moduleText('a')}` },
    { sink },
  )
  const names = () => Array.from(sink.resources, ({ metadata }) => metadata.name).toSorted()
  expect(names()).toEqual(['a'])
  const changed = moduleText('bad').replace('spec:', 'spec:\n  suspend: true')
  await source.write('a.yaml', `${changed}---\n${moduleText('a')}---\n${moduleText('b')}`)
  await vi.waitFor(() => expect(names()).toEqual(['a', 'b']), wait)
})
