import { mkdirSync, rmdirSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { apiVersionOf } from '../../../api/v1alpha1/v1alpha1.ts'
import { codeOf } from '../../../base/errors/errors.ts'
import type { Clock } from '../../../base/pacing/pacing.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import { rejectionLine, Scanner } from '../../folder/folder.ts'
import { ApiError } from '../../kube/kube.ts'
import { readmeObject } from '../../readme/readme.ts'
import { noteOf, RecentEvents } from '../events.ts'
import { record, refOf } from '../memory.ts'
import type {
  AppliedObject,
  FolderObjects,
  Notes,
  Objects,
  StoredObject,
  StoredRef,
} from '../types.ts'
import { Files } from './files.ts'
import { Mending } from './mending.ts'
import {
  applied,
  type Fields,
  type FiledSecret,
  patched,
  requireValid,
  wholeKeeper,
} from './object-rules.ts'
import { Owners } from './owners.ts'
import { changed, removeFile, writeFile } from './write-file.ts'
import { ShownObjects, Writes } from './writes.ts'

interface FolderObjectsOptions {
  /** Every `*.yaml`, `*.yml` and `*.json` below it is read. Created objects are written below it. */
  readonly dir: string
  readonly apiGroup: string
  /** Follow later changes of files. */
  readonly watch: boolean
  readonly log: Logger
  /** Default: Date.now. */
  readonly clock?: Clock
  /** Time without changes in the folder after which absent objects are removed, in milliseconds. Default: 10,000. */
  readonly restMs?: number
}

const defaultRestMs = 10_000

/**
 * The objects of a folder of manifests. Files that people wrote stay unchanged: their statuses are in separate files, such as
 * `vpc.status.yaml`. Created objects are in separate files with their status, such as `versions/team/network-1-0-0.yaml`. All
 * of it is what `depot server --manifests` serves. Two processes must not write to one folder, so take the lock of
 * pkg/base/folderlock first.
 *
 * @returns when everything is in memory
 * @throws the error of the file system if the folder cannot be read
 */
export async function folderObjects(options: FolderObjectsOptions): Promise<FolderObjects> {
  const objects = new ObjectsOfFolder(options)
  await objects.load(options.watch)
  return objects
}

/** Notes in files of a hidden folder, which is not read as manifests. */
function folderNotes(dir: string): Notes {
  const folder = join(dir, '.depot-removals')
  const fileOf = (key: string) => join(folder, `${key}.json`)
  return {
    async all() {
      const names = await readdir(folder).catch(noneIfMissing)
      const keys = names
        .filter((name) => /^[^.].*\.json$/.test(name))
        .map((name) => name.slice(0, -'.json'.length))
      const notes = new Map<string, string>()
      for (const key of keys) notes.set(key, await readFile(fileOf(key), 'utf8'))
      return notes
    },
    async put(key, text) {
      mkdirSync(folder, { recursive: true })
      await writeFile(fileOf(key), text)
    },
    async drop(key) {
      removeFile(fileOf(key))
      try {
        rmdirSync(folder)
      } catch {
        // The file has other notes.
      }
    },
  }
}

function noneIfMissing(error: unknown): string[] {
  if (codeOf(error) === 'ENOENT') return []
  throw error
}

/** Reads and changes the objects of a folder, one change after the other, by the rules of an API server. */
class ObjectsOfFolder implements FolderObjects {
  readonly namespaces = undefined
  readonly isFolder = true
  readonly ready = Promise.resolve()
  readonly notes: Notes
  readonly #scanner: Scanner<Fields, FiledSecret>
  readonly #files: Files
  readonly #owners: Owners
  readonly #mending: Mending
  readonly #shown: ShownObjects
  readonly #writes: Writes
  readonly #apiGroup: string
  readonly #clock: Clock
  readonly #log: Logger
  readonly #events: RecentEvents
  #stop: () => Promise<void> = async () => undefined

  constructor(options: FolderObjectsOptions) {
    const { apiGroup, clock = Date.now, restMs = defaultRestMs } = options
    const dir = resolve(options.dir)
    const log = options.log.child({ component: 'objects' })
    const shown = new ShownObjects(log, () => this.#owners.takeBack())
    const scanner: Scanner<Fields, FiledSecret> = new Scanner({
      dir,
      apiGroup,
      keeper: wholeKeeper,
      // Archives are removed with their objects, so nothing is removed while a folder keeps changing, as during a checkout.
      absence: { restMs, patienceMs: Infinity },
      emptyHint: 'start again if it is meant to be empty',
      take: async (changes) => writes.take(changes),
      onScanned: async () => {
        const isAtRest = scanner.restsInMs === 0
        if (isAtRest && scanner.rejections.count > 0) await this.#mending.mendKnown(shown.memory)
        await this.#owners.collect()
      },
      log,
    })
    const files = new Files({ dir, apiGroup, restMs, log }, scanner)
    const writes = new Writes(shown, scanner, files)
    this.notes = folderNotes(dir)
    this.#owners = new Owners({ shown, scanner, files, writes, restMs, log, clock })
    this.#mending = new Mending({ apiGroup, scanner, files, log })
    this.#shown = shown
    this.#scanner = scanner
    this.#files = files
    this.#writes = writes
    this.#apiGroup = apiGroup
    this.#clock = clock
    this.#log = log
    this.#events = new RecentEvents(clock)
  }

  /** @throws the error of the file system if the folder cannot be read */
  async load(watch: boolean): Promise<void> {
    this.#writes.take(await this.#scanner.load())
    if (watch) this.#stop = this.#scanner.follow()
  }

  readonly close = () => this.#stop()
  readonly unreadable = () => this.#scanner.rejections.unreadable()
  readonly mistakes = () => Array.from(this.#scanner.rejections.all(), rejectionLine)
  readonly orphans = () => (this.unreadable() === undefined ? this.#owners.orphans() : [])
  readonly settled = () => this.#owners.settled()
  readonly waitsForFinalizers = (object: StoredObject) => this.#files.isOwn(refOf(object))
  readonly get: Objects['get'] = (...key) => this.#shown.memory.get(...key)
  readonly list: Objects['list'] = (...wanted) => this.#shown.memory.list(...wanted)
  readonly onChange: Objects['onChange'] = (listener) => this.#shown.memory.onChange(listener)
  readonly mend: NonNullable<Objects['mend']> = (...damaged) => this.#mending.mend(...damaged)
  readonly hasReadme: Objects['hasReadme'] = (version, keys) =>
    this.#files.hasReadme(refOf(version), keys)

  readonly event: Objects['event'] = (event) => {
    if (!this.#events.isNews(event)) return
    const { object, type, reason, note } = event
    const { namespace, name } = object.metadata
    const fields = { kind: object.kind, namespace, name, reason, note: noteOf(note) }
    this.#log[type === 'Warning' ? 'warn' : 'info'](fields, 'event')
  }

  readonly secret: Objects['secret'] = async (namespace, name) => {
    for (const secret of this.#scanner.extras()) {
      if (secret.namespace === namespace && secret.name === name) return secret.values
    }
    return undefined
  }

  readonly fresh: Objects['fresh'] = (kind, namespace, name) => {
    const ref = { kind, namespace, name }
    return this.#scanner.exclusively(async () => {
      await this.#current(ref)
      return this.#shown.get(ref)
    })
  }

  readonly apply: Objects['apply'] = (object) => {
    const { kind } = object
    const ref = refOf(object)
    return this.#scanner.exclusively(async () => {
      const before = await this.#current(ref)
      if (before !== undefined) {
        const after = applied(before, object)
        requireValid(ref, after, { withRules: true })
        return this.#writes.change(ref, before, after, 'later')
      }
      // Its file may return.
      if (this.#shown.get(ref) !== undefined) throw changed(`${kind} ${ref.namespace}/${ref.name}`)
      return this.#writes.change(ref, undefined, this.#newValue(object), 'later')
    })
  }

  readonly create: Objects['create'] = (object) => {
    const { kind, metadata } = object
    const ref = refOf(object)
    return this.#scanner.exclusively(async () => {
      if ((await this.#current(ref)) === undefined && this.#shown.get(ref) === undefined) {
        return this.#writes.change(ref, undefined, this.#newValue(object), 'now')
      }
      const message = `${kind} ${metadata.namespace}/${metadata.name} exists in the folder`
      throw new ApiError('AlreadyExists', message)
    })
  }

  /** @throws ApiError Invalid */
  #newValue(object: AppliedObject): Fields {
    const value = {
      apiVersion: apiVersionOf(object.kind, this.#apiGroup),
      ...(JSON.parse(JSON.stringify(object)) as Fields),
      metadata: {
        ...(JSON.parse(JSON.stringify(object.metadata)) as Fields),
        creationTimestamp: new Date(this.#clock()).toISOString(),
      },
    }
    requireValid(refOf(object), value, { withRules: true })
    return value
  }

  readonly patch: Objects['patch'] = (ref, patch, given) =>
    this.#scanner.exclusively(async () => {
      const before = await this.#existing(ref, given?.resourceVersion)
      const after = patched(before, patch)
      requireValid(ref, after, { withRules: false })
      const { deletionTimestamp, finalizers } = record(after['metadata'])
      const isFree = !Array.isArray(finalizers) || finalizers.length === 0
      if (deletionTimestamp === undefined || !isFree) {
        return this.#writes.change(ref, before, after, this.#writes.isFiled(ref) ? 'now' : 'later')
      }
      const last = this.#shown.identified(ref, after)
      await this.#writes.remove(ref)
      return last
    })

  readonly writeStatus: Objects['writeStatus'] = (object, status, given) => {
    const ref = refOf(object)
    return this.#scanner.exclusively(async () => {
      const before = await this.#existing(ref, object.metadata.resourceVersion)
      const after = { ...before, status: JSON.parse(JSON.stringify(status)) as unknown }
      requireValid(ref, after, { withRules: false })
      return this.#writes.change(ref, before, after, given?.isProgress === true ? 'later' : 'now')
    })
  }

  readonly writeReadme: Objects['writeReadme'] = (version, texts) => {
    const readme = texts && readmeObject(version.metadata, texts, this.#apiGroup)
    return this.#scanner.exclusively(() => this.#writes.changeReadme(refOf(version), readme))
  }

  readonly delete: Objects['delete'] = (ref, { uid, whileOwnerAbsent } = {}) =>
    this.#scanner.exclusively(async () => {
      if (whileOwnerAbsent === true) await this.#scanner.settle()
      const before = await this.#current(ref)
      if (whileOwnerAbsent === true && !this.#shown.isOwnerless(ref)) return
      const held = this.#shown.get(ref)
      if (before === undefined || held === undefined) return
      if (uid !== undefined && held.metadata.uid !== uid) return
      await this.#delete(ref, before, held)
    })

  async #delete(ref: StoredRef, before: Fields, held: StoredObject): Promise<void> {
    const { finalizers, uid, deletionTimestamp, ownerAbsent } = held.metadata
    if (finalizers.length === 0) {
      await this.#writes.remove(ref)
      for (const child of this.#owners.ownedBy(uid)) {
        const childRef = refOf(child)
        const value = this.#shown.valueOf(childRef)
        if (value !== undefined) await this.#delete(childRef, value, child)
      }
    } else if (deletionTimestamp === undefined || ownerAbsent === true) {
      const since = deletionTimestamp ?? new Date(this.#clock()).toISOString()
      const metadata = { ...record(before['metadata']), deletionTimestamp: since }
      await this.#writes.change(ref, before, { ...before, metadata }, 'now')
    }
  }

  /** Returns the current object, after reading its file again if it changed. */
  async #current(ref: StoredRef): Promise<Fields | undefined> {
    const { definitions } = this.#scanner
    const files = [definitions.fileOf(ref), definitions.statusFileOf(ref)]
    for (const file of files) {
      if (file === undefined || (await this.#scanner.isCurrent(file))) continue
      await this.#scanner.settle()
      break
    }
    return this.#writes.valueOf(ref)
  }

  /** @throws ApiError NotFound or Conflict */
  async #existing(ref: StoredRef, resourceVersion: string | undefined): Promise<Fields> {
    const found = await this.#current(ref)
    const { kind, namespace, name } = ref
    const held = this.#shown.get(ref)?.metadata.resourceVersion
    if (found === undefined) {
      // Another program may be writing the file.
      if (held !== undefined) throw changed(`${kind} ${namespace}/${name}`)
      throw new ApiError('NotFound', `${kind} ${namespace}/${name} is not in the folder`)
    }
    if (resourceVersion === undefined || resourceVersion === held) return found
    throw changed(`${kind} ${namespace}/${name}`)
  }
}
