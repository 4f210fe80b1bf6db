import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { createLogger } from '../../../base/telemetry/telemetry.ts'
import type { ApiError } from '../../kube/kube.ts'
import { folderObjects } from '../store.ts'

const log = createLogger('silent')
let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'depot-folder-'))
  onTestFinished(() => {
    chmodSync(dir, 0o700)
    rmSync(dir, { recursive: true })
  })
})

const write = (file: string, text: string) => writeFileSync(join(dir, file), text)
const read = (file: string) => readFileSync(join(dir, file), 'utf8')
const open = (watch = false) =>
  folderObjects({ dir, apiGroup: 'depot.internal', watch, restMs: 200, log })

const moduleText = (name: string, rest = '') => `apiVersion: depot.internal/v1alpha1
kind: Module
metadata: { name: ${name}, namespace: team } # short
spec:
  # Where it comes from.
  moduleConfig: { name: ${name}, provider: aws }
${rest}`

const known = async (name: string, objects: Awaited<ReturnType<typeof open>>) => {
  const found = objects.get('Module', 'team', name)
  if (found === undefined) throw new Error(`${name} is not there`)
  return found
}

const force = async (objects: Awaited<ReturnType<typeof open>>, name: string, forceSync: boolean) =>
  objects.patch({ kind: 'Module', namespace: 'team', name }, { spec: { forceSync } })

const child = (parent: { metadata: { name: string; uid: string } }) => {
  const { name, uid } = parent.metadata
  const apiVersion = 'depot.internal/v1alpha1'
  return {
    kind: 'Version',
    metadata: {
      name: `${name}-1-0-0`,
      namespace: 'team',
      ownerReferences: [{ apiVersion, kind: 'Module', name, uid, controller: true }],
    },
    spec: { type: 'Module', version: '1.0.0', moduleConfigRef: { name, provider: 'aws' } },
  } as const
}

it('takes a key without a value for an absent one, and leaves it in the file', async () => {
  write('vpc.yaml', moduleText('vpc', '  versions:\nstatus: { conditions: }\n'))
  const objects = await open()
  expect(await known('vpc', objects)).toMatchObject({ status: {} })
  expect((await known('vpc', objects)).spec).toEqual({
    moduleConfig: { name: 'vpc', provider: 'aws' },
  })
  await force(objects, 'vpc', true)
  await objects.close()
  expect(read('vpc.yaml')).toContain('  versions:\n')
})

it('drops a note with the text that a killed process was writing to it', async () => {
  const { notes } = await open()
  await notes.put('stored', '[]')
  write('.depot-removals/.stored.json.depot-tmp', '[{')
  await notes.drop('stored')
  expect(readdirSync(dir)).toEqual([])
})

describe('the README of a version', () => {
  const file = 'configmaps/team/vpc-1-0-0-readme.yaml'
  const whole = (readme: string) => ({ data: { 'README.md': base64(readme) } })
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const documents = () =>
    parseAllDocuments(read('versions/team/vpc-1-0-0.yaml')).map((one) => one.toJS() as unknown)

  it('is in the file of the version that sync made, and is written with it', async () => {
    write('vpc.yaml', moduleText('vpc'))
    const objects = await open()
    const made = await objects.apply(child(await known('vpc', objects)))
    await objects.writeReadme(made, { readme: '# First one' })
    expect(readdirSync(dir)).toEqual(['vpc.yaml'])
    const version = await objects.writeStatus(made, { synced: true })
    const status = { status: { synced: true } }
    expect(documents()).toMatchObject([status, whole('# First one')])
    await objects.writeReadme(version, { readme: '# Second one' })
    expect(documents()).toMatchObject([status, whole('# Second one')])
    await objects.writeStatus(version, { synced: false })
    expect(documents()).toMatchObject([{ status: { synced: false } }, whole('# Second one')])
    await objects.writeReadme(version, undefined)
    expect(documents()).toHaveLength(1)
    expect(existsSync(join(dir, 'configmaps'))).toBe(false)
  })

  it('stays in a file of its own if it has one', async () => {
    write('vpc.yaml', moduleText('vpc'))
    const objects = await open()
    const made = await objects.apply(child(await known('vpc', objects)))
    mkdirSync(join(dir, 'configmaps/team'), { recursive: true })
    write(file, '')
    await objects.writeReadme(made, { readme: '# First one' })
    const version = await objects.writeStatus(made, { synced: true })
    expect(parse(read(file))).toMatchObject(whole('# First one'))
    expect(documents()).toHaveLength(1)
    expect(await objects.hasReadme(version, ['README.md'])).toBe(true)
    await objects.delete({ kind: 'Version', namespace: 'team', name: 'vpc-1-0-0' })
    expect(existsSync(join(dir, file))).toBe(false)
  })

  it('leaves a file with something else unchanged', async () => {
    write('vpc.yaml', moduleText('vpc'))
    const objects = await open()
    const version = await objects.apply(child(await known('vpc', objects)))
    mkdirSync(join(dir, 'configmaps/team'), { recursive: true })
    write(file, 'theirs: true\n')
    await objects.writeReadme(version, { readme: '# Ours' }).then(
      () => expect.unreachable(),
      (error: ApiError) => expect(error.message).toContain('rename or delete it'),
    )
    await objects.writeReadme(version, undefined)
    expect(read(file)).toBe('theirs: true\n')
  })

  it('is written again wherever it was cut', async () => {
    write('vpc.yaml', moduleText('vpc'))
    const objects = await open()
    const made = await objects.apply(child(await known('vpc', objects)))
    const own = 'versions/team/vpc-1-0-0.yaml'
    const texts = { readme: '# VPC with a long description', interface: '{"schema":1}' }
    const keys = ['README.md', 'interface.json']
    await objects.writeReadme(made, texts)
    const version = await objects.writeStatus(made, { synced: true })
    const text = read(own)
    const start = text.indexOf('---')
    const cuts = [0, 3, 9, 30, text.indexOf('\ndata:') - start + 6]
    for (const end of [
      ...cuts.map((at) => start + at),
      ...[60, 10, 1].map((at) => text.length - at),
    ]) {
      write(own, text.slice(0, end))
      expect([end, await objects.hasReadme(version, keys)]).toEqual([end, false])
      await objects.fresh('Version', 'team', 'vpc-1-0-0')
      await objects.writeReadme(version, texts)
      expect(read(own)).toBe(text)
      expect(await objects.hasReadme(version, keys)).toBe(true)
    }
  })

  it('is written again wherever its own file was cut', async () => {
    write('vpc.yaml', moduleText('vpc'))
    const objects = await open()
    const version = await objects.apply(child(await known('vpc', objects)))
    const texts = { readme: '# VPC with a long description', interface: '{"schema":1}' }
    const keys = ['README.md', 'interface.json']
    mkdirSync(join(dir, 'configmaps/team'), { recursive: true })
    write(file, '')
    await objects.writeReadme(version, texts)
    const text = read(file)
    const { length: end } = text
    for (const length of [0, 30, text.indexOf('data:') + 5, end - 60, end - 10, end - 1]) {
      write(file, text.slice(0, length))
      expect([length, await objects.hasReadme(version, keys)]).toEqual([length, false])
      await objects.writeReadme(version, texts)
      expect(read(file)).toBe(text)
      expect(await objects.hasReadme(version, keys)).toBe(true)
    }
    const aside = readdirSync(join(dir, 'configmaps/team')).filter((name) => /broken/.test(name))
    expect(aside).toContain('.vpc-1-0-0-readme.yaml.broken')
  })
})

describe('a file that people wrote', () => {
  it('stays byte for byte, and its status is in a separate file', async () => {
    const text = `${moduleText('a')}---\n${moduleText('b')}---\n# The next one.\n${moduleText('c')}`
    write('all.yaml', text)
    const objects = await open()
    for (const synced of [true, false]) {
      for (const name of ['a', 'b']) {
        await objects.writeStatus(await known(name, objects), { synced })
        expect((await known(name, objects)).status).toEqual({ synced })
      }
    }
    expect(read('all.yaml')).toBe(text)
    expect(readdirSync(dir)).toEqual(['a.status.yaml', 'all.yaml', 'b.status.yaml'])
    expect(parse(read('b.status.yaml'))).toEqual({
      apiVersion: 'depot.internal/v1alpha1',
      kind: 'Module',
      metadata: { name: 'b', namespace: 'team' },
      status: { synced: false },
    })
    expect((await known('b', await open())).status).toEqual({ synced: false })
  })

  it('has a separate status for each object of one name', async () => {
    const other = moduleText('a').replace('namespace: team', 'namespace: other')
    const depot = moduleText('a').replace('Module', 'Depot')
    write('all.yaml', [moduleText('a'), other, depot].join('---\n'))
    const objects = await open()
    const all = [...objects.list('Module'), ...objects.list('Depot')]
    for (const [index, object] of all.entries()) {
      await objects.writeStatus(object, { observedGeneration: index })
    }
    expect(readdirSync(dir)).toHaveLength(4)
    const again = await open()
    for (const [index, { kind, metadata }] of all.entries()) {
      const { status } = again.get(kind, metadata.namespace, metadata.name) ?? {}
      expect(status).toEqual({ observedGeneration: index })
    }
  })

  it('keeps a status that an older release wrote into it, until there is a new one', async () => {
    const text = moduleText('a', 'status:\n  synced: false\n')
    write('a.yaml', text)
    const objects = await open()
    expect((await known('a', objects)).status).toEqual({ synced: false })
    await objects.writeStatus(await known('a', objects), { synced: true })
    expect(read('a.yaml')).toBe(text)
    expect((await known('a', await open())).status).toEqual({ synced: true })
  })

  it('loses its status after it was removed with all objects that were created for it', async () => {
    write('a.yaml', moduleText('a'))
    const objects = await open(true)
    await objects.writeStatus(await known('a', objects), { synced: true })
    const made = await objects.apply(child(await known('a', objects)))
    const finalizers = ['depot.internal/finalizer']
    const ref = { kind: 'Version', namespace: 'team', name: 'a-1-0-0' } as const
    await objects.writeStatus(made, { synced: true })
    await objects.patch(ref, { metadata: { finalizers } })
    rmSync(join(dir, 'a.yaml'))
    const version = () => objects.get('Version', 'team', 'a-1-0-0')
    await vi.waitFor(() => expect(version()?.metadata.ownerAbsent).toBe(true), 30_000)
    expect(readdirSync(dir)).toContain('a.status.yaml')
    await objects.delete(ref)
    await objects.patch(ref, { metadata: { finalizers: null } })
    await vi.waitFor(() => expect(readdirSync(dir)).not.toContain('a.status.yaml'), 30_000)
    await objects.close()
  })

  it('returns before anything is deleted for its absence', async () => {
    write('a.yaml', moduleText('a'))
    const objects = await open(true)
    const made = await objects.apply(child(await known('a', objects)))
    const finalizers = ['depot.internal/finalizer']
    await objects.patch(
      { kind: 'Version', namespace: 'team', name: 'a-1-0-0' },
      { metadata: { finalizers } },
    )
    const held = objects.get('Version', 'team', 'a-1-0-0') ?? made
    await objects.writeStatus(held, { synced: true })
    const before = read('versions/team/a-1-0-0.yaml')
    rmSync(join(dir, 'a.yaml'))
    const { metadata } = made
    const version = () => objects.get('Version', 'team', metadata.name)?.metadata
    await vi.waitFor(() => expect(version()?.deletionTimestamp).toMatch(/^20/), 30_000)
    write('a.yaml', moduleText('a'))
    const ref = { kind: 'Version', namespace: 'team', name: metadata.name } as const
    await objects.delete(ref, { whileOwnerAbsent: true })
    expect(version()?.deletionTimestamp).toBeUndefined()
    expect(version()?.ownerAbsent).toBeUndefined()
    expect(read('versions/team/a-1-0-0.yaml')).toBe(before)
    await objects.close()
  })

  it('keeps the status of a Version that names an archive, in case that it returns', async () => {
    const text = moduleText('a')
      .replace('kind: Module', 'kind: Version')
      .replace(/spec:[^]*/, '')
    const own = `${text}spec: { type: Module, version: 1.0.0 }\n`
    write('v.yaml', own)
    write('b.yaml', moduleText('b'))
    const objects = await open(true)
    const version = () => objects.get('Version', 'team', 'a')
    const held = version()
    if (held === undefined) throw new Error('the Version is not there')
    await objects.writeStatus(held, { artifact: { fileName: 'a.zip', sha256: 'ab'.repeat(32) } })
    await objects.writeStatus(await known('b', objects), { synced: true })
    rmSync(join(dir, 'v.yaml'))
    rmSync(join(dir, 'b.yaml'))
    await vi.waitFor(() => expect(readdirSync(dir)).toEqual(['a.status.yaml']), 30_000)
    write('v.yaml', own)
    await vi.waitFor(
      () => expect(version()?.status).toMatchObject({ artifact: { fileName: 'a.zip' } }),
      30_000,
    )
    await objects.close()
  })

  it('is not written anywhere else while it is missing', async () => {
    write('a.yaml', moduleText('a'))
    const objects = await open()
    const before = await known('a', objects)
    const told = await objects.writeStatus(before, { synced: false }, { isProgress: true })
    rmSync(join(dir, 'a.yaml'))
    const spec = { moduleConfig: { name: 'a', provider: 'azurerm' } }
    const applied = { kind: 'Module', metadata: { name: 'a', namespace: 'team' }, spec } as const
    for (const late of [
      () => objects.writeStatus(told, { synced: true }),
      () => objects.apply(applied),
    ]) {
      await expect(late()).rejects.toMatchObject({ reason: 'Conflict' })
    }
    expect(readdirSync(dir)).toEqual([])
  })

  it('is reported if it is defined twice', async () => {
    write('a.yaml', moduleText('a'))
    write('b.yaml', `# Again.\n${moduleText('a')}`)
    const objects = await open()
    expect(objects.mistakes()).toEqual([
      'b.yaml:2: Module team/a is already defined in a.yaml:1; remove one of the two',
    ])
    expect(objects.unreadable()).toBeUndefined()
  })

  it('keeps its comments and the documents around it when a field is changed', async () => {
    const [before, after] = [moduleText('a'), `---\n# The next one.\n${moduleText('c')}`]
    write('all.yaml', `${before}---\n${moduleText('b')}${after}`)
    const objects = await open()
    await force(objects, 'b', true)
    expect(read('all.yaml')).toBe(`${before}---\n${moduleText('b', '  forceSync: true\n')}${after}`)
  })

  it.each(['\n', '\r\n'])('keeps directives where they belong: lines end with %j', async (end) => {
    const lines = (text: string) => text.replaceAll('\n', end)
    const directed = lines(`%YAML 1.2\n---\n${moduleText('c')}`)
    write('all.yaml', lines(`${moduleText('a')}---\n${moduleText('b')}...\n`) + directed)
    const objects = await open()
    await objects.delete({ kind: 'Module', namespace: 'team', name: 'b' })
    expect(read('all.yaml')).toBe(lines(`${moduleText('a')}...\n`) + directed)
    await force(objects, 'c', true)
    await force(objects, 'c', false)
    expect(read('all.yaml').match(/^\.\.\./gm)).toHaveLength(1)
    expect(await known('a', objects)).toBeDefined()
  })

  it.each(['...\n# one\n# two\n', '# one\n# two\n...\n', '# one\n... # end\n', '...\n\n'])(
    'keeps directives after one end, whatever else it contains: %j',
    async (between) => {
      const directed = `%YAML 1.2\n---\n${moduleText('c')}`
      write('all.yaml', moduleText('a') + between + directed)
      const objects = await open()
      for (const isForced of [true, false]) {
        await force(objects, 'a', isForced)
        await force(objects, 'c', isForced)
      }
      expect(read('all.yaml').match(/^\.\.\./gm)).toHaveLength(1)
      expect((await known('a', objects)).spec).toMatchObject({ forceSync: false })
    },
  )

  it('may be items of a list, or JSON', async () => {
    const item = (name: string) => ({
      apiVersion: 'depot.internal/v1alpha1',
      kind: 'Module',
      metadata: { name, namespace: 'team' },
      spec: { moduleConfig: { name, provider: 'aws' } },
    })
    const list = { apiVersion: 'v1', kind: 'List', items: [item('a'), item('b')] }
    write('list.json', JSON.stringify(list))
    const objects = await open()
    await force(objects, 'b', true)
    await objects.delete({ kind: 'Module', namespace: 'team', name: 'a' })
    expect(JSON.parse(read('list.json'))).toEqual({
      ...list,
      items: [{ ...item('b'), spec: { ...item('b').spec, forceSync: true } }],
    })
  })

  it('takes precedence over a write that was made from its previous content', async () => {
    write('a.yaml', moduleText('a'))
    const objects = await open()
    const before = await known('a', objects)
    write('a.yaml', moduleText('a', '  forceSync: true\n'))
    const late = objects.writeStatus(before, { synced: true })
    await expect(late).rejects.toMatchObject({ reason: 'Conflict' })
    expect(read('a.yaml')).toBe(moduleText('a', '  forceSync: true\n'))
    await objects.writeStatus(await known('a', objects), { synced: true })
    expect(read('a.yaml')).toContain('forceSync: true')
  })

  it('is not lost if it is written while a field of it is changed', async () => {
    write('a.yaml', moduleText('a'))
    const objects = await open()
    const reasons = new Set<unknown>()
    const change = async (count: number) => {
      const labels = { count: String(count) }
      const ref = { kind: 'Module', namespace: 'team', name: 'a' } as const
      const writing = objects.patch(ref, { metadata: { labels } })
      await writing.catch((error: ApiError) => reasons.add(error.reason))
    }
    // An editor in another thread. It writes at any moment, even in the middle of a step of this one.
    const editor = new Worker(
      `const { workerData: path, parentPort } = require('node:worker_threads')
      const { writeFileSync } = require('node:fs')
      parentPort.on('message', (text) => parentPort.postMessage(writeFileSync(path, text)))`,
      { eval: true, workerData: join(dir, 'a.yaml') },
    )
    onTestFinished(async () => void (await editor.terminate()))
    for (let edit = 0; edit < 100; edit++) {
      const edited = once(editor, 'message')
      editor.postMessage(moduleText('a', `  # Edit ${edit}.\n`), [])
      for (let count = 1; count <= 4; count++) await change(edit * 10 + count)
      await edited
      for (let count = 5; count <= 6; count++) await change(edit * 10 + count)
      expect(read('a.yaml')).toContain(`# Edit ${edit}.\n`)
    }
    reasons.delete('Conflict')
    expect(reasons).toEqual(new Set())
  })

  it('may begin with a byte order mark, or be UTF-16', async () => {
    const mark = '\uFEFF'
    write('a.yaml', mark + moduleText('a'))
    writeFileSync(join(dir, 'b.yaml'), Buffer.from(mark + moduleText('b'), 'utf16le'))
    const objects = await open()
    for (const name of ['a', 'b']) {
      await force(objects, name, true)
      expect(read(`${name}.yaml`)).toBe(moduleText(name, '  forceSync: true\n'))
    }
  })

  it('is not removed with an object if it was written in the meantime', async () => {
    write('a.yaml', moduleText('a'))
    const objects = await open()
    await known('a', objects)
    const text = `${moduleText('a')}---\n${moduleText('b')}`
    write('a.yaml', text)
    await objects.delete({ kind: 'Module', namespace: 'team', name: 'a' })
    expect(read('a.yaml')).toContain('name: b')
  })

  it('does not change while it has a mistake', async () => {
    write('a.yaml', moduleText('a'))
    const objects = await open(true)
    const parent = await known('a', objects)
    await objects.apply(child(parent))
    write('a.yaml', 'metadata: [')
    expect(await objects.fresh('Module', 'team', 'a')).toEqual(parent)
    expect(objects.get('Version', 'team', 'a-1-0-0')).toBeDefined()
    await objects.close()
  })
})

describe('a created object', () => {
  it('is written once there is something to report, after its owner', async () => {
    const objects = await open()
    const parent = await objects.apply({
      kind: 'Module',
      metadata: { name: 'a', namespace: 'team' },
      spec: { moduleConfig: { name: 'a', provider: 'aws' } },
    })
    const made = await objects.apply(child(parent))
    const told = await objects.writeStatus(made, { syncStatus: 'Fetching' }, { isProgress: true })
    expect(objects.get('Version', 'team', 'a-1-0-0')?.status).toEqual({ syncStatus: 'Fetching' })
    expect(readdirSync(dir)).toEqual([])
    await objects.writeStatus(told, { synced: true })
    expect(readdirSync(dir)).toEqual(['modules', 'versions'])
    expect(parse(read('versions/team/a-1-0-0.yaml'))).toMatchObject({ status: { synced: true } })
  })

  it('takes back its objects when it is applied again after its file was removed', async () => {
    const objects = await open(true)
    const spec = { moduleConfig: { name: 'a', provider: 'aws' } }
    const owner = { kind: 'Module', metadata: { name: 'a', namespace: 'team' }, spec } as const
    const made = await objects.apply(child(await objects.apply(owner)))
    const ref = { kind: 'Version', namespace: 'team', name: 'a-1-0-0' } as const
    await objects.writeStatus(made, { synced: true })
    await objects.patch(ref, { metadata: { finalizers: ['depot.internal/finalizer'] } })
    const version = () => objects.get('Version', 'team', 'a-1-0-0')?.metadata
    rmSync(join(dir, 'modules/team/a.yaml'))
    await vi.waitFor(() => expect(version()?.ownerAbsent).toBe(true), 30_000)
    await objects.apply(owner)
    expect(version()?.ownerAbsent).toBeUndefined()
    await objects.delete(ref, { whileOwnerAbsent: true })
    expect(version()?.deletionTimestamp).toBeUndefined()
    await objects.close()
  })

  it('keeps changes of a person, whatever was about to be written', async () => {
    const objects = await open()
    const made = await objects.apply({
      kind: 'Module',
      metadata: { name: 'a', namespace: 'team' },
      spec: { moduleConfig: { name: 'a', provider: 'aws' } },
    })
    await objects.writeStatus(made, { synced: true })
    const text = read('modules/team/a.yaml')
    await objects.writeStatus(await known('a', objects), { synced: false }, { isProgress: true })
    write('modules/team/a.yaml', `# Mine.\n${text.replace('aws', 'azurerm')}`)
    const fresh = await objects.fresh('Module', 'team', 'a')
    expect(fresh).toMatchObject({ spec: { moduleConfig: { provider: 'azurerm' } } })
    await objects.writeStatus(await known('a', objects), { synced: false })
    expect(read('modules/team/a.yaml')).toMatch(/^# Mine\.\n/)
  })

  it('is deleted with its owner, finalizers first', async () => {
    write('a.yaml', moduleText('a'))
    write('b.yaml', moduleText('b'))
    const objects = await open(true)
    for (const name of ['a', 'b']) {
      await objects.writeStatus(await objects.apply(child(await known(name, objects))), {})
    }
    const ref = { kind: 'Version', namespace: 'team', name: 'a-1-0-0' } as const
    await objects.patch(ref, { metadata: { finalizers: ['depot.internal/finalizer'] } })
    rmSync(join(dir, 'a.yaml'))
    const get = () => objects.get('Version', 'team', 'a-1-0-0')
    await vi.waitFor(() => expect(get()?.metadata.deletionTimestamp).toMatch(/^20/), 30_000)
    await objects.delete(ref)
    await objects.patch(ref, { metadata: { finalizers: null } })
    expect(get()).toBeUndefined()
    expect(readdirSync(join(dir, 'versions/team'))).toEqual(['b-1-0-0.yaml'])
    await objects.close()
  })

  it('has a file inside of the folder, whatever its name', async () => {
    const objects = await open()
    for (const name of ['..', '../x', 'a/b', 'ä b', '.hidden']) {
      const made = await objects.apply({
        kind: 'Module',
        metadata: { name, namespace: '..' },
        spec: { moduleConfig: { name: 'x' } },
      })
      await objects.writeStatus(made, { synced: true })
    }
    expect(readdirSync(dir)).toEqual(['modules'])
    expect(readdirSync(join(dir, 'modules'))).toEqual(['%2E.'])
    const again = await open()
    expect(again.list('Module')).toHaveLength(5)
  })
})

it.skipIf(process.getuid?.() === 0)('says that the folder may not be written', async () => {
  write('a.yaml', moduleText('a'))
  const objects = await open()
  chmodSync(dir, 0o500)
  const refused = objects.writeStatus(await known('a', objects), { synced: true })
  await expect(refused).rejects.toMatchObject({ reason: 'Forbidden' })
  await expect(refused).rejects.toThrow('let this user write to the folder of manifests')
})
