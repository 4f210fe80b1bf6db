import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
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
const open = (watch = false) => folderObjects({ dir, apiGroup: 'depot.internal', watch, log })

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

describe('what people wrote', () => {
  it('keeps its comments and the documents around it', async () => {
    const [before, after] = [moduleText('a'), `---\n# The next one.\n${moduleText('c')}`]
    write('all.yaml', `${before}---\n${moduleText('b')}${after}`)
    const objects = await open()
    await objects.writeStatus(await known('b', objects), { synced: true })
    expect(read('all.yaml')).toBe(
      `${before}---\n${moduleText('b', 'status:\n  synced: true\n')}${after}`,
    )
  })

  it.each(['\n', '\r\n'])('keeps directives where they belong: lines end with %j', async (end) => {
    const lines = (text: string) => text.replaceAll('\n', end)
    const directed = lines(`%YAML 1.2\n---\n${moduleText('c')}`)
    write('all.yaml', lines(`${moduleText('a')}---\n${moduleText('b')}...\n`) + directed)
    const objects = await open()
    await objects.delete({ kind: 'Module', namespace: 'team', name: 'b' })
    expect(read('all.yaml')).toBe(lines(`${moduleText('a')}...\n`) + directed)
    await objects.writeStatus(await known('c', objects), { synced: true })
    await objects.writeStatus(await known('c', objects), { synced: false })
    expect(read('all.yaml').match(/^\.\.\./gm)).toHaveLength(1)
    expect(await known('a', objects)).toBeDefined()
  })

  it.each(['...\n# one\n# two\n', '# one\n# two\n...\n', '# one\n... # end\n', '...\n\n'])(
    'keeps directives behind one end, whatever else is there: %j',
    async (between) => {
      const directed = `%YAML 1.2\n---\n${moduleText('c')}`
      write('all.yaml', moduleText('a') + between + directed)
      const objects = await open()
      for (const synced of [true, false]) {
        await objects.writeStatus(await known('a', objects), { synced })
        await objects.writeStatus(await known('c', objects), { synced })
      }
      expect(read('all.yaml').match(/^\.\.\./gm)).toHaveLength(1)
      expect((await known('a', objects)).status).toMatchObject({ synced: false })
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
    await objects.writeStatus(await known('b', objects), { synced: true })
    await objects.delete({ kind: 'Module', namespace: 'team', name: 'a' })
    expect(JSON.parse(read('list.json'))).toEqual({
      ...list,
      items: [{ ...item('b'), status: { synced: true } }],
    })
  })

  it('wins over a write that was made from what it was before', async () => {
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

  it('is not lost where it is written while a status is written', async () => {
    write('a.yaml', moduleText('a'))
    const objects = await open()
    const reasons = new Set<unknown>()
    const writeStatus = async (retained: number) => {
      const writing = objects.writeStatus(await known('a', objects), { synced: true, retained })
      await writing.catch((error: ApiError) => reasons.add(error.reason))
    }
    // An editor in a thread of its own: it writes at any moment, also in the middle of a step of this one.
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
      for (let status = 1; status <= 4; status++) await writeStatus(edit * 10 + status)
      await edited
      for (let status = 5; status <= 6; status++) await writeStatus(edit * 10 + status)
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
      await objects.writeStatus(await known(name, objects), { synced: true })
      expect(read(`${name}.yaml`)).toBe(moduleText(name, 'status:\n  synced: true\n'))
    }
  })

  it('is not removed with an object where it was written in the meantime', async () => {
    write('a.yaml', moduleText('a'))
    const objects = await open()
    await known('a', objects)
    const text = `${moduleText('a')}---\n${moduleText('b')}`
    write('a.yaml', text)
    await objects.delete({ kind: 'Module', namespace: 'team', name: 'a' })
    expect(read('a.yaml')).toContain('name: b')
  })

  it('stays what it was while its file has a mistake', async () => {
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

describe('what is made', () => {
  it('goes with its owner, finalizers first', async () => {
    write('a.yaml', moduleText('a'))
    write('b.yaml', moduleText('b'))
    const objects = await open(true)
    for (const name of ['a', 'b']) await objects.apply(child(await known(name, objects)))
    const ref = { kind: 'Version', namespace: 'team', name: 'a-1-0-0' } as const
    await objects.patch(ref, { metadata: { finalizers: ['depot.internal/finalizer'] } })
    rmSync(join(dir, 'a.yaml'))
    const get = () => objects.get('Version', 'team', 'a-1-0-0')
    await vi.waitFor(() => expect(get()?.metadata.deletionTimestamp).toMatch(/^20/), 30_000)
    await objects.patch(ref, { metadata: { finalizers: null } })
    expect(get()).toBeUndefined()
    expect(readdirSync(join(dir, 'versions/team'))).toEqual(['b-1-0-0.yaml'])
    await objects.close()
  })

  it('has a file inside of the folder, whatever its name is', async () => {
    const objects = await open()
    for (const name of ['..', '../x', 'a/b', 'ä b', '.hidden']) {
      await objects.apply({
        kind: 'Module',
        metadata: { name, namespace: '..' },
        spec: { moduleConfig: { name: 'x' } },
      })
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
