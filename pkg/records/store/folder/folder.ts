import { mkdirSync, rmdirSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { apiVersionOf } from '../../../api/v1alpha1/v1alpha1.ts'
import { codeOf } from '../../../base/errors/errors.ts'
import type { Clock } from '../../../base/pacing/pacing.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import { rejectionLine, Scanner } from '../../folder/folder.ts'
import { ApiError, type ObjectPatch } from '../../kube/kube.ts'
import { type ReadmeTexts, readmeObject } from '../../readme/readme.ts'
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
import { changed, writeFile } from './write-file.ts'
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
  const { apiGroup, clock = Date.now, restMs = defaultRestMs } = options
  const log = options.log.child({ component: 'objects' })
  const state = new FolderState({ dir: resolve(options.dir), apiGroup, restMs, log, clock })
  const events = new RecentEvents(clock)
  const { rejections } = state.scanner
  await state.load()
  const close = options.watch ? state.scanner.follow() : async () => undefined

  return {
    namespaces: undefined,
    isFolder: true,
    unreadable: () => rejections.unreadable(),
    mistakes: () => Array.from(rejections.all(), rejectionLine),
    orphans: () => (rejections.unreadable() === undefined ? state.owners.orphans() : []),
    settled: () => state.owners.settled(),
    waitsForFinalizers: (object) => state.files.isOwn(refOf(object)),
    get: (kind, namespace, name) => state.shown.memory.get(kind, namespace, name),
    list: (kind, filter) => state.shown.memory.list(kind, filter),
    onChange: (listener) => state.shown.memory.onChange(listener),
    ready: Promise.resolve(),
    fresh: (kind, namespace, name) => state.fresh({ kind, namespace, name }),
    apply: (object) => state.apply(object),
    create: (object) => state.create(object),
    patch: (ref, patch, given) => state.patch(ref, patch, given?.resourceVersion),
    writeStatus: (object, status, given) =>
      state.writeStatus(object, status, given?.isProgress === true),
    delete: (ref, given) => state.delete(ref, given),
    mend: (object, isProven) => state.mending.mend(object, isProven),
    writeReadme: (version, texts) => state.writeReadme(version, texts),
    hasReadme: (version, keys) => state.files.hasReadme(refOf(version), keys),
    event(event) {
      if (!events.isNews(event)) return
      const { object, type, reason, note } = event
      const { namespace, name } = object.metadata
      log[type === 'Warning' ? 'warn' : 'info'](
        { kind: object.kind, namespace, name, reason, note: noteOf(note) },
        'event',
      )
    },
    secret: async (namespace, name) => state.secret(namespace, name),
    notes: folderNotes(resolve(options.dir)),
    close,
  }
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
      await rm(fileOf(key), { force: true })
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

type StateOptions = Required<Omit<FolderObjectsOptions, 'watch'>>

type DeleteOptions = NonNullable<Parameters<Objects['delete']>[1]>

/** Reads and changes the objects of a folder, one change after the other, by the rules of an API server. */
class FolderState {
  readonly scanner: Scanner<Fields, FiledSecret>
  readonly files: Files
  readonly owners: Owners
  readonly mending: Mending
  readonly shown: ShownObjects
  readonly #writes: Writes
  readonly #apiGroup: string
  readonly #clock: Clock

  constructor(options: StateOptions) {
    const { dir, apiGroup, log, restMs, clock } = options
    this.#apiGroup = apiGroup
    this.#clock = clock
    const shown = new ShownObjects(log, () => this.owners.takeBack())
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
        if (isAtRest && scanner.rejections.count > 0) await this.mending.mendKnown(shown.memory)
        await this.owners.collect()
      },
      log,
    })
    const files = new Files(options, scanner)
    const writes = new Writes(shown, scanner, files)
    this.owners = new Owners({ ...options, shown, scanner, files, writes })
    this.mending = new Mending({ apiGroup, scanner, files, log })
    this.shown = shown
    this.scanner = scanner
    this.files = files
    this.#writes = writes
  }

  /** @throws the error of the file system if the folder cannot be read */
  async load(): Promise<void> {
    this.#writes.take(await this.scanner.load())
  }

  secret(namespace: string, name: string): Readonly<Record<string, Buffer>> | undefined {
    for (const secret of this.scanner.extras()) {
      if (secret.namespace === namespace && secret.name === name) return secret.values
    }
    return undefined
  }

  fresh(ref: StoredRef): Promise<StoredObject | undefined> {
    return this.scanner.exclusively(async () => {
      await this.#current(ref)
      return this.shown.get(ref)
    })
  }

  apply(object: AppliedObject): Promise<StoredObject> {
    const { kind } = object
    const ref = refOf(object)
    return this.scanner.exclusively(async () => {
      const before = await this.#current(ref)
      if (before !== undefined) {
        const after = applied(before, object)
        requireValid(ref, after, { withRules: true })
        return this.#writes.change(ref, before, after, 'later')
      }
      // Its file may return.
      if (this.shown.get(ref) !== undefined) throw changed(`${kind} ${ref.namespace}/${ref.name}`)
      return this.#writes.change(ref, undefined, this.#newValue(object), 'later')
    })
  }

  create(object: AppliedObject): Promise<StoredObject> {
    const { kind, metadata } = object
    const ref = refOf(object)
    return this.scanner.exclusively(async () => {
      if ((await this.#current(ref)) === undefined && this.shown.get(ref) === undefined) {
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

  patch(
    ref: StoredRef,
    patch: ObjectPatch,
    resourceVersion: string | undefined,
  ): Promise<StoredObject> {
    return this.scanner.exclusively(async () => {
      const before = await this.#existing(ref, resourceVersion)
      const after = patched(before, patch)
      requireValid(ref, after, { withRules: false })
      const { deletionTimestamp, finalizers } = record(after['metadata'])
      const isFree = !Array.isArray(finalizers) || finalizers.length === 0
      if (deletionTimestamp === undefined || !isFree) {
        return this.#writes.change(ref, before, after, this.#writes.isFiled(ref) ? 'now' : 'later')
      }
      const last = this.shown.identified(ref, after)
      await this.#writes.remove(ref)
      return last
    })
  }

  writeStatus(object: StoredObject, status: unknown, isProgress: boolean): Promise<StoredObject> {
    const ref = refOf(object)
    return this.scanner.exclusively(async () => {
      const before = await this.#existing(ref, object.metadata.resourceVersion)
      const after = { ...before, status: JSON.parse(JSON.stringify(status)) as unknown }
      requireValid(ref, after, { withRules: false })
      return this.#writes.change(ref, before, after, isProgress ? 'later' : 'now')
    })
  }

  writeReadme(version: StoredObject, texts: ReadmeTexts | undefined): Promise<void> {
    const readme = texts && readmeObject(version.metadata, texts, this.#apiGroup)
    return this.scanner.exclusively(() => this.#writes.changeReadme(refOf(version), readme))
  }

  delete(ref: StoredRef, { uid, whileOwnerAbsent }: DeleteOptions = {}): Promise<void> {
    return this.scanner.exclusively(async () => {
      if (whileOwnerAbsent === true) await this.scanner.settle()
      const before = await this.#current(ref)
      if (whileOwnerAbsent === true && !this.shown.isOwnerless(ref)) return
      const held = this.shown.get(ref)
      if (before === undefined || held === undefined) return
      if (uid !== undefined && held.metadata.uid !== uid) return
      await this.#delete(ref, before, held)
    })
  }

  async #delete(ref: StoredRef, before: Fields, held: StoredObject): Promise<void> {
    const { finalizers, uid, deletionTimestamp, ownerAbsent } = held.metadata
    if (finalizers.length === 0) {
      await this.#writes.remove(ref)
      for (const child of this.owners.ownedBy(uid)) {
        const childRef = refOf(child)
        const value = this.shown.valueOf(childRef)
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
    const { definitions } = this.scanner
    const files = [definitions.fileOf(ref), definitions.statusFileOf(ref)]
    for (const file of files) {
      if (file === undefined || (await this.scanner.isCurrent(file))) continue
      await this.scanner.settle()
      break
    }
    return this.#writes.valueOf(ref)
  }

  /** @throws ApiError NotFound or Conflict */
  async #existing(ref: StoredRef, resourceVersion: string | undefined): Promise<Fields> {
    const found = await this.#current(ref)
    const { kind, namespace, name } = ref
    const held = this.shown.get(ref)?.metadata.resourceVersion
    if (found === undefined) {
      // Another program may be writing the file.
      if (held !== undefined) throw changed(`${kind} ${namespace}/${name}`)
      throw new ApiError('NotFound', `${kind} ${namespace}/${name} is not in the folder`)
    }
    if (resourceVersion === undefined || resourceVersion === held) return found
    throw changed(`${kind} ${namespace}/${name}`)
  }
}
