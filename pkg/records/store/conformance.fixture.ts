import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import type { AppliedObject, Objects, StoredObject, StoredRef } from './types.ts'

/** A place for objects, and what people do there. */
export interface ObjectPlace {
  /** Opens it like a starting process. */
  open(): Promise<Objects>
  /** Creates an object, or updates it to this state. */
  write(manifest: Manifest): Promise<void>
  remove(ref: StoredRef): Promise<void>
  /** Reads a ConfigMap, unless its owner was deleted; undefined if it does not exist. */
  configMap(namespace: string, name: string): Promise<unknown>
  writeSecret(namespace: string, name: string, values: Record<string, string>): Promise<void>
  close(): Promise<void>
}

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec: unknown
}

const apiVersion = 'depot.internal/v1alpha1'
const namespace = 'team'

function moduleManifest(name: string, versions: readonly string[] = []): Manifest {
  const spec = {
    moduleConfig: { name, provider: 'aws' },
    versions: versions.map((version) => ({ version })),
  }
  return { apiVersion, kind: 'Module', metadata: { name, namespace }, spec }
}

function versionOf(parent: StoredObject, version: string): AppliedObject {
  const { name, uid } = parent.metadata
  return {
    kind: 'Version',
    metadata: {
      name: `${name}-${version.replaceAll('.', '-')}`,
      namespace,
      labels: { 'depot.internal/module': name },
      ownerReferences: [
        { apiVersion, kind: 'Module', name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: { type: 'Module', version, moduleConfigRef: { name, provider: 'aws', immutable: true } },
  }
}

/** Generous, because a busy machine is slow. */
const until = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 30_000, interval: 20 })

/** Behaviour of every store of objects. */
export function objectsConformance(where: string, open: () => Promise<ObjectPlace>): void {
  describe(`objects in ${where}`, () => {
    let place: ObjectPlace
    let objects: Objects
    beforeAll(async () => {
      place = await open()
      await place.write(moduleManifest('first', ['1.0.0']))
      objects = await place.open()
      await objects.ready
    })
    afterAll(async () => {
      await objects?.close()
      await place?.close()
    })

    const known = (name: string) => objects.get('Module', namespace, name)
    const written = async (name: string, versions?: readonly string[]): Promise<StoredObject> => {
      await place.write(moduleManifest(name, versions))
      return until(() => {
        const found = known(name)
        if (found === undefined) throw new Error(`${name} is not there yet`)
        return found
      })
    }
    const refOf = ({ kind, metadata }: StoredObject): StoredRef => {
      return { kind, namespace: metadata.namespace, name: metadata.name }
    }

    /** Decoded, by key. */
    const readmesIn = async (name: string): Promise<Record<string, string> | undefined> => {
      const found = await place.configMap(namespace, name)
      if (found === undefined) return undefined
      const { metadata, data } = z
        .object({
          metadata: z.object({ labels: z.record(z.string(), z.string()) }),
          data: z.record(z.string(), z.string()),
        })
        .parse(found)
      expect(metadata.labels).toEqual({ 'depot.internal/readme': 'true' })
      const texts = Object.entries(data).map(
        ([key, text]) => [key, Buffer.from(text, 'base64').toString()] as const,
      )
      return Object.fromEntries(texts)
    }

    it('have every field that people wrote', () => {
      expect(known('first')).toMatchObject({
        kind: 'Module',
        metadata: { name: 'first', namespace, labels: {}, annotations: {}, finalizers: [] },
        spec: {
          moduleConfig: { name: 'first', provider: 'aws' },
          versions: [{ version: '1.0.0' }],
        },
      })
      expect(known('first')?.metadata.uid).not.toBe('')
      expect(objects.list('Module', { namespace })).toHaveLength(1)
      expect(objects.list('Module', { namespace: 'other' })).toEqual([])
    })

    it('have notes for the next process', async () => {
      const { notes } = objects
      expect(await notes.all()).toEqual(new Map())
      await notes.drop('none')
      await Promise.all(['a1', 'b2', 'c3'].map((key) => notes.put(key, `of ${key}`)))
      await notes.put('b2', 'another')
      await notes.drop('c3')
      const next = await place.open()
      await next.ready
      const left = new Map([
        ['a1', 'of a1'],
        ['b2', 'another'],
      ])
      expect(await next.notes.all()).toEqual(left)
      await next.close()
      for (const key of left.keys()) await notes.drop(key)
      expect(await notes.all()).toEqual(new Map())
    })

    it('report changes by people, with the previous state', async () => {
      const changes: string[] = []
      const forget = objects.onChange((ref, before, after) => {
        if (ref.name !== 'followed') return
        const versionsIn = (object: StoredObject | undefined) =>
          (object?.spec as { versions: unknown[] } | undefined)?.versions.length
        changes.push(`${ref.kind} ${versionsIn(before)} ${versionsIn(after)}`)
      })
      const { metadata } = await written('followed')
      await place.write(moduleManifest('followed', ['1.0.0']))
      await until(() => expect(known('followed')?.spec).toMatchObject({ versions: [{}] }))
      expect(known('followed')?.metadata.uid).toBe(metadata.uid)
      expect(known('followed')?.metadata.generation).not.toBe(metadata.generation)
      await place.remove({ kind: 'Module', namespace, name: 'followed' })
      await until(() => expect(known('followed')).toBeUndefined())
      forget()
      expect(changes).toEqual(['Module undefined 0', 'Module 0 1', 'Module 1 undefined'])
    })

    it('are in memory at once when they are applied, and are found by owner and label', async () => {
      const parent = await written('parent')
      const child = await objects.apply(versionOf(parent, '1.0.0'))
      await objects.apply(versionOf(parent, '2.0.0'))
      expect(objects.get('Version', namespace, 'parent-1-0-0')).toEqual(child)
      const { uid: ownerUid } = parent.metadata
      const names = (found: StoredObject[]) => found.map(({ metadata }) => metadata.name).toSorted()
      const both = ['parent-1-0-0', 'parent-2-0-0']
      expect(names(objects.list('Version', { ownerUid }))).toEqual(both)
      const label = { name: 'depot.internal/module', value: 'parent' }
      expect(names(objects.list('Version', { namespace, label }))).toEqual(both)
      expect(objects.list('Version', { label: { ...label, value: 'other' } })).toEqual([])
      expect(await objects.fresh('Version', namespace, 'parent-1-0-0')).toMatchObject({
        metadata: { ownerReferences: [{ kind: 'Module', uid: ownerUid, controller: true }] },
      })
    })

    it('are created by one process only, and all others see them at once', async () => {
      const parent = await written('created')
      const { metadata, ...rest } = versionOf(parent, '1.0.0')
      const version = { ...rest, metadata: { ...metadata, ownerReferences: [] } }
      const made = await objects.create(version)
      expect(objects.get('Version', namespace, 'created-1-0-0')).toEqual(made)
      const later = await place.open()
      await later.ready
      expect(later.get('Version', namespace, 'created-1-0-0')?.spec).toEqual(version.spec)
      await expect(later.create(version)).rejects.toMatchObject({ reason: 'AlreadyExists' })
      await expect(objects.create(version)).rejects.toMatchObject({ reason: 'AlreadyExists' })
      await later.close()
    })

    it('keep what others wrote when they are applied, and lose what is no longer applied', async () => {
      const parent = await written('kept')
      const wanted = versionOf(parent, '1.0.0')
      const made = await objects.apply(wanted)
      await objects.patch(refOf(made), {
        metadata: { labels: { team: 'a' }, finalizers: ['example.com/hold'] },
        spec: { forceSync: true },
      })
      const changed = await objects.apply({
        ...wanted,
        spec: { type: 'Module', version: '1.0.0', moduleConfigRef: { name: 'kept' } },
      })
      expect(changed).toMatchObject({
        metadata: {
          labels: { team: 'a', 'depot.internal/module': 'kept' },
          finalizers: ['example.com/hold'],
        },
      })
      expect(changed.spec).toEqual({
        type: 'Module',
        version: '1.0.0',
        forceSync: true,
        moduleConfigRef: { name: 'kept' },
      })
    })

    it('are not written if nothing would change', async () => {
      const parent = await written('quiet')
      const wanted = versionOf(parent, '1.0.0')
      const made = await objects.apply(wanted)
      const told = await objects.writeStatus(made, { synced: true, syncStatus: 'Synced' })
      const before = told.metadata.resourceVersion
      expect((await objects.apply(wanted)).metadata.resourceVersion).toBe(before)
      const again = await objects.writeStatus(told, { syncStatus: 'Synced', synced: true })
      expect(again.metadata.resourceVersion).toBe(before)
      const fresh = await objects.fresh('Version', namespace, 'quiet-1-0-0')
      expect(fresh?.metadata.resourceVersion).toBe(before)
    })

    it('have a status that is replaced as a whole and leaves the spec unchanged', async () => {
      const before = await written('told', ['1.0.0'])
      const synced = await objects.writeStatus(before, { synced: true, latestVersion: '1.0.0' })
      expect(synced.status).toEqual({ synced: true, latestVersion: '1.0.0' })
      expect(synced.metadata.generation).toBe(before.metadata.generation)
      expect(known('told')).toEqual(synced)
      const failed = await objects.writeStatus(synced, { synced: false })
      expect(failed.status).toEqual({ synced: false })
      expect(failed.spec).toEqual(before.spec)
      await place.write(moduleManifest('told', ['1.0.0', '2.0.0']))
      await until(() => expect(known('told')?.spec).toMatchObject({ versions: [{}, {}] }))
      expect(known('told')?.status).toEqual({ synced: false })
    })

    it('refuse a status that was made from an older state', async () => {
      const before = await written('raced')
      await objects.writeStatus(before, { synced: true })
      await expect(objects.writeStatus(before, { synced: false })).rejects.toMatchObject({
        name: 'ApiError',
        reason: 'Conflict',
      })
      expect(known('raced')?.status).toEqual({ synced: true })
    })

    it('accept patches that name the state they were made from, or a value that they expect', async () => {
      const made = await written('patched')
      const ref = refOf(made)
      const { resourceVersion } = made.metadata
      const held = await objects.patch(
        ref,
        { metadata: { finalizers: ['depot.internal/finalizer'] }, spec: { forceSync: true } },
        { resourceVersion },
      )
      expect(held.metadata.finalizers).toEqual(['depot.internal/finalizer'])
      const late = objects.patch(ref, { metadata: { finalizers: null } }, { resourceVersion })
      await expect(late).rejects.toMatchObject({ reason: 'Conflict' })
      const reset = [
        { op: 'test', path: '/spec/forceSync', value: true },
        { op: 'replace', path: '/spec/forceSync', value: false },
      ] as const
      expect((await objects.patch(ref, reset)).spec).toMatchObject({ forceSync: false })
      await expect(objects.patch(ref, reset)).rejects.toMatchObject({ reason: 'Invalid' })
      const gone = { ...ref, name: 'gone' }
      await expect(objects.patch(gone, {})).rejects.toMatchObject({ reason: 'NotFound' })
      await objects.patch(ref, { metadata: { finalizers: null } })
      expect(known('patched')?.metadata.finalizers).toEqual([])
    })

    it('wait for their finalizers when they are deleted', async () => {
      const parent = await written('deleted')
      const made = await objects.apply(versionOf(parent, '1.0.0'))
      const finalizers = ['depot.internal/finalizer']
      await objects.patch(refOf(made), { metadata: { finalizers } })
      await objects.delete(refOf(made), { uid: 'another' })
      const get = () => objects.get('Version', namespace, 'deleted-1-0-0')
      expect(get()?.metadata.deletionTimestamp).toBeUndefined()
      await objects.delete(refOf(made), { uid: made.metadata.uid })
      await until(() => expect(get()?.metadata.deletionTimestamp).toMatch(/^20/))
      await objects.patch(refOf(made), { metadata: { finalizers: null } })
      await until(() => expect(get()).toBeUndefined())
      await objects.delete(refOf(made))
      expect(await objects.fresh('Version', namespace, 'deleted-1-0-0')).toBeUndefined()
    })

    it('are refused if they cannot work', async () => {
      const parent = await written('refused')
      const { metadata } = versionOf(parent, '1.0.0')
      const spec = { type: 'Provider', version: '1.0.0' }
      const refused = objects.apply({ kind: 'Version', metadata, spec })
      await expect(refused).rejects.toMatchObject({ reason: 'Invalid' })
      await expect(refused).rejects.toThrow('operatingSystem')
      expect(objects.get('Version', namespace, metadata.name)).toBeUndefined()
    })

    it('have Secrets next to them', async () => {
      await place.writeSecret(namespace, 'depot-github', { token: 'opensesame' })
      await until(async () => {
        const secret = await objects.secret(namespace, 'depot-github')
        expect(String(secret?.['token'])).toBe('opensesame')
      })
      expect(await objects.secret(namespace, 'none')).toBeUndefined()
      expect(await objects.secret('other', 'depot-github')).toBeUndefined()
    })

    it('keep the README of a Version until the Version is deleted', async () => {
      const parent = await written('read')
      const made = await objects.apply(versionOf(parent, '1.0.0'))
      const version = await objects.writeStatus(made, { synced: true })
      const readmes = () => readmesIn('read-1-0-0-readme')
      await objects.writeReadme(version, undefined)
      expect([await readmes(), await objects.hasReadme(version, ['README.md'])]).toEqual([
        undefined,
        false,
      ])
      for (const text of ['# Größe', '# Another', '# Another']) {
        await objects.writeReadme(version, { readme: text })
        expect(await readmes()).toEqual({ 'README.md': text })
        expect(await objects.hasReadme(version, ['README.md'])).toBe(true)
      }
      await objects.writeReadme(version, undefined)
      expect(await readmes()).toBeUndefined()
      await objects.writeReadme(version, { readme: 'hi' })
      expect((await readmes())?.['README.md']?.trim()).toBe('hi')
      await objects.delete(refOf(version))
      await until(async () => expect(await readmes()).toBeUndefined())
    })

    it('keep the interface of a Version next to its README, and drop each alone', async () => {
      const parent = await written('typed')
      const made = await objects.apply(versionOf(parent, '1.0.0'))
      const version = await objects.writeStatus(made, { synced: true })
      const both = ['README.md', 'interface.json']
      const texts = { 'README.md': '# Typed', 'interface.json': '{"schema":1}' }
      const readmes = () => readmesIn('typed-1-0-0-readme')
      await objects.writeReadme(version, { readme: '# Typed', interface: '{"schema":1}' })
      expect([await readmes(), await objects.hasReadme(version, both)]).toEqual([texts, true])
      await objects.writeReadme(version, { readme: '# Typed' })
      expect(await readmes()).toEqual({ 'README.md': '# Typed' })
      expect(await objects.hasReadme(version, both)).toBe(false)
      await objects.writeReadme(version, { interface: '{"schema":1}' })
      expect(await readmes()).toEqual({ 'interface.json': '{"schema":1}' })
      expect(await objects.hasReadme(version, ['interface.json'])).toBe(true)
      await objects.writeReadme(version, undefined)
      expect(await readmes()).toBeUndefined()
    })

    it('cut a README that has more bytes than a ConfigMap may have', async () => {
      const parent = await written('long')
      const version = await objects.apply(versionOf(parent, '1.0.0'))
      await objects.writeReadme(version, { readme: '\u{fffd}'.repeat(400_000) })
      await objects.writeStatus(version, { synced: true })
      const { 'README.md': text = '' } = (await readmesIn('long-1-0-0-readme')) ?? {}
      expect(text).toMatch(
        /^\u{fffd}+\n\n\*The rest of this README is left out: it has more than 512 KiB\.\*\n$/u,
      )
    })

    it('are the same for a process that starts later', async () => {
      const parent = await written('lasting')
      const made = await objects.apply(versionOf(parent, '1.0.0'))
      const told = await objects.writeStatus(made, { synced: true })
      const later = await place.open()
      await later.ready
      const found = later.get('Version', namespace, 'lasting-1-0-0')
      const { resourceVersion: _, ...metadata } = told.metadata
      expect(found).toMatchObject({ ...told, metadata })
      const { ownerReferences } = found?.metadata ?? {}
      expect(ownerReferences?.[0]?.uid).toBe(
        later.get('Module', namespace, 'lasting')?.metadata.uid,
      )
      await later.close()
    })

    it('have events, which never fail', () => {
      const object = known('first')
      if (object === undefined) throw new Error('first is not there')
      const event = { object, type: 'Normal', reason: 'Synced', note: 'all of it' } as const
      for (let i = 0; i < 3; i++) expect(() => objects.event(event)).not.toThrow()
    })
  })
}
