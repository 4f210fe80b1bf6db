import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { apiVersionOf } from '../../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../../base/pacing/pacing.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import { idOf, type Rejection, type Resolution, Scanner } from '../../folder/folder.ts'
import { ApiError, type JsonPatchOperation } from '../../kube/kube.ts'
import { ObjectMemory, objectKinds, refOf } from '../memory.ts'
import { type ReadmeTexts, readmeObject } from '../readme.ts'
import type { AppliedObject, Objects, StoredObject, StoredRef } from '../types.ts'
import { record } from '../whole-object.ts'
import { applied } from './applied.ts'
import { Files } from './files.ts'
import { identified } from './identity.ts'
import { type Fields, type FiledSecret, wholeKeeper } from './keeper.ts'
import { Mending } from './mending.ts'
import { controllerOf, Owners } from './owners.ts'
import { patched } from './patch.ts'
import { requireValid } from './valid.ts'
import { changed } from './write-file.ts'

export interface FolderStateOptions {
  readonly dir: string
  readonly apiGroup: string
  /** Time without changes in the folder after which absent objects count as gone, in milliseconds. */
  readonly restMs: number
  readonly log: Logger
  readonly clock: Clock
}

type DeleteOptions = NonNullable<Parameters<Objects['delete']>[1]>

/** The objects of a folder: reads them, and writes one after the other. */
export class FolderState {
  readonly memory: ObjectMemory
  readonly scanner: Scanner<Fields, FiledSecret>
  readonly owners: Owners
  readonly mending: Mending
  readonly #apiGroup: string
  readonly #restMs: number
  readonly #log: Logger
  readonly #clock: Clock
  readonly #files: Files
  /** Every object as it is in memory. */
  readonly #values = new Map<string, Fields>()
  /** File contents of objects whose state in memory is not written yet; undefined: there is no file. */
  readonly #bases = new Map<string, Fields | undefined>()
  /** Time at which the owner of an object counted as absent, by object. */
  readonly #ownerless = new Map<string, string>()
  #revision = 0
  /** The revision for which absent owners were last handled without a failure. */
  #collected = -1
  #isCollectFailing = false

  constructor(options: FolderStateOptions) {
    const { dir, apiGroup, log, restMs } = options
    this.#restMs = restMs
    this.#apiGroup = apiGroup
    this.#log = log
    this.#clock = options.clock
    this.memory = new ObjectMemory(log)
    this.scanner = new Scanner({
      dir,
      apiGroup,
      keeper: wholeKeeper,
      // Archives are removed with their objects, so a folder that keeps changing, as in a checkout, removes nothing.
      absence: { restMs, patienceMs: Infinity },
      emptyHint: 'start again if it is meant to be empty',
      take: async (changes) => this.#take(changes),
      onScanned: async () => {
        await this.mending.mendKnown(() => objectKinds.flatMap((kind) => this.memory.list(kind)))
        await this.#collect()
      },
      log,
    })
    this.#files = new Files(options, this.scanner)
    this.owners = new Owners(this.memory, this.scanner, this.#files)
    this.mending = new Mending(apiGroup, this.scanner, this.#files, log)
  }

  /** @throws the error of the file system where the folder cannot be read */
  async load(): Promise<void> {
    this.#take(await this.scanner.load())
  }

  secret(namespace: string, name: string): Readonly<Record<string, Buffer>> | undefined {
    for (const secret of this.scanner.extras()) {
      if (secret.namespace === namespace && secret.name === name) return secret.values
    }
    return undefined
  }

  /** The first file that cannot be read completely. */
  unreadable(): string | undefined {
    for (const { reason, file } of this.scanner.rejections.all()) {
      if (reason !== 'Duplicate') return file
    }
    return undefined
  }

  rejections(): readonly Rejection[] {
    return [...this.scanner.rejections.all()]
  }

  waitsForFinalizers(object: StoredObject): boolean {
    return this.#files.isOwn(refOf(object))
  }

  /**
   * Resolves once no absent object is undecided: each counts as gone or has returned. Also resolves if a file cannot be read or
   * removed, and if the folder does not rest within six times `restMs`; then what is left stays.
   */
  async settled(): Promise<void> {
    const patience = AbortSignal.timeout(6 * this.#restMs)
    for (;;) {
      await this.scanner.exclusively(() => this.scanner.settle())
      const { definitions, restsInMs } = this.scanner
      const isDecided = !definitions.hasAbsent && !this.owners.hasLeftovers()
      if (isDecided || this.#isCollectFailing || this.unreadable() !== undefined) return
      if (patience.aborted) {
        this.#log.warn('the folder keeps changing, so nothing is removed for absent objects')
        return
      }
      await sleep(Math.max(50, Math.min(restsInMs, 1_000)))
    }
  }

  fresh(ref: StoredRef): Promise<StoredObject | undefined> {
    return this.scanner.exclusively(async () => {
      await this.#current(ref)
      return this.#get(ref)
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
        return this.#change(ref, before, after, 'later')
      }
      // Its file may return.
      if (this.#get(ref) !== undefined) throw changed(`${kind} ${ref.namespace}/${ref.name}`)
      return this.#change(ref, undefined, this.#newValue(object), 'later')
    })
  }

  create(object: AppliedObject): Promise<StoredObject> {
    const { kind, metadata } = object
    const ref = refOf(object)
    return this.scanner.exclusively(async () => {
      if ((await this.#current(ref)) === undefined && this.#get(ref) === undefined) {
        return this.#change(ref, undefined, this.#newValue(object), 'now')
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
    patch: Fields | readonly JsonPatchOperation[],
    resourceVersion: string | undefined,
  ): Promise<StoredObject> {
    return this.scanner.exclusively(async () => {
      const before = await this.#existing(ref, resourceVersion)
      const after = patched(before, patch)
      requireValid(ref, after, { withRules: false })
      const { deletionTimestamp, finalizers } = record(after['metadata'])
      const isFree = !Array.isArray(finalizers) || finalizers.length === 0
      if (deletionTimestamp === undefined || !isFree) {
        return this.#change(ref, before, after, this.#isFiled(ref) ? 'now' : 'later')
      }
      const last = identified(ref.kind, after, this.#nextRevision())
      await this.#remove(ref)
      return last
    })
  }

  writeStatus(object: StoredObject, status: unknown, isProgress: boolean): Promise<StoredObject> {
    const ref = refOf(object)
    return this.scanner.exclusively(async () => {
      const before = await this.#existing(ref, object.metadata.resourceVersion)
      const after = { ...before, status: JSON.parse(JSON.stringify(status)) as unknown }
      requireValid(ref, after, { withRules: false })
      return this.#change(ref, before, after, isProgress ? 'later' : 'now')
    })
  }

  writeReadme(version: StoredObject, texts: ReadmeTexts | undefined): Promise<void> {
    const readme = texts && readmeObject(version, texts, this.#apiGroup)
    return this.scanner.exclusively(() => this.#files.writeReadme(version.metadata, readme))
  }

  hasReadme({ metadata }: StoredObject, keys: readonly string[]): Promise<boolean> {
    return this.#files.hasReadme(metadata, keys)
  }

  delete(ref: StoredRef, { uid, whileOwnerAbsent }: DeleteOptions = {}): Promise<void> {
    return this.scanner.exclusively(async () => {
      if (whileOwnerAbsent === true) await this.scanner.settle()
      const before = await this.#current(ref)
      if (whileOwnerAbsent === true && !this.#ownerless.has(idOf(ref))) return
      const held = this.#get(ref)
      if (before === undefined || held === undefined) return
      if (uid !== undefined && held.metadata.uid !== uid) return
      await this.#delete(ref, before, held)
    })
  }

  async #delete(ref: StoredRef, before: Fields, held: StoredObject): Promise<void> {
    const { finalizers, uid, deletionTimestamp, ownerAbsent } = held.metadata
    if (finalizers.length === 0) {
      await this.#remove(ref)
      for (const child of this.owners.ownedBy(uid)) {
        const childRef = refOf(child)
        const value = this.#values.get(idOf(childRef))
        if (value !== undefined) await this.#delete(childRef, value, child)
      }
    } else if (deletionTimestamp === undefined || ownerAbsent === true) {
      const since = deletionTimestamp ?? this.#now()
      this.#ownerless.delete(idOf(ref))
      const metadata = { ...record(before['metadata']), deletionTimestamp: since }
      await this.#change(ref, before, { ...before, metadata }, 'now')
    }
  }

  #take(changes: readonly Resolution<Fields>[]): void {
    for (const { id, key, object } of changes) {
      const kind = objectKinds.find((one) => one === key.kind)
      if (kind === undefined) continue
      // Unwritten changes stay unless a person changes the file.
      if (this.#bases.has(id) && isDeepStrictEqual(this.#bases.get(id), object)) continue
      this.#bases.delete(id)
      this.#show({ ...key, kind }, object)
    }
  }

  #show(ref: StoredRef, value: Fields | undefined): void {
    const id = idOf(ref)
    if (value === undefined) {
      this.#values.delete(id)
      this.#ownerless.delete(id)
      this.#revision += 1
      this.memory.delete(ref)
    } else if (!isDeepStrictEqual(this.#values.get(id), value)) {
      this.#values.set(id, value)
      this.#remember(ref, value)
      this.#takeBack()
    }
  }

  #remember(ref: StoredRef, value: Fields): void {
    const object = identified(ref.kind, value, this.#nextRevision())
    const deletionTimestamp = this.#ownerless.get(idOf(ref))
    const mark = deletionTimestamp !== undefined && {
      deletionTimestamp,
      ownerAbsent: true as const,
    }
    this.memory.set({ ...object, metadata: { ...object.metadata, ...mark } })
  }

  /**
   * Deletes what sync created for absent objects, and their statuses, once the folder has rested. A file that cannot be
   * read may contain the owner, so nothing is deleted while there is one.
   */
  async #collect(): Promise<void> {
    if (this.scanner.restsInMs > 0 || this.#collected === this.#revision) return
    if (this.scanner.definitions.hasAbsent || this.unreadable() !== undefined) return
    const removals = [
      ...this.owners.orphans().map((object) => () => this.#markOrRemove(object)),
      ...this.owners.strayStatuses().map((ref) => () => this.#files.removeStatus(ref)),
    ]
    this.#isCollectFailing = false
    for (const remove of removals) {
      try {
        await remove()
      } catch (err) {
        this.#isCollectFailing = true
        this.#log.warn({ err }, 'a file of an absent object could not be removed')
      }
    }
    if (!this.#isCollectFailing) this.#collected = this.#revision
  }

  async #markOrRemove(object: StoredObject): Promise<void> {
    const ref = refOf(object)
    const owner = controllerOf(object)?.name
    this.#log.info({ ...ref, owner }, 'to be deleted, because its owner is absent')
    if (object.metadata.finalizers.length === 0) return this.#remove(ref)
    this.#ownerless.set(idOf(ref), this.#now())
    this.#remember(ref, this.#values.get(idOf(ref)) ?? {})
  }

  /** Objects whose owner has returned are not deleted. */
  #takeBack(): void {
    for (const id of this.#ownerless.keys()) {
      const value = this.#values.get(id)
      const kind = objectKinds.find((one) => one === value?.['kind'])
      if (value === undefined || kind === undefined) continue
      const object = identified(kind, value, '')
      if (!this.owners.isOwnerPresent(object)) continue
      this.#ownerless.delete(id)
      this.#remember(refOf(object), value)
      this.#log.info({ ...refOf(object) }, 'kept, because its owner has returned')
    }
  }

  #get({ kind, namespace, name }: StoredRef): StoredObject | undefined {
    return this.memory.get(kind, namespace, name)
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
    const id = idOf(ref)
    return this.#isFiled(ref) || this.#isNew(id) ? this.#values.get(id) : undefined
  }

  /** @throws ApiError NotFound or Conflict */
  async #existing(ref: StoredRef, resourceVersion: string | undefined): Promise<Fields> {
    const found = await this.#current(ref)
    const { kind, namespace, name } = ref
    const held = this.#get(ref)?.metadata.resourceVersion
    if (found === undefined) {
      // The file may just be written.
      if (held !== undefined) throw changed(`${kind} ${namespace}/${name}`)
      throw new ApiError('NotFound', `${kind} ${namespace}/${name} is not in the folder`)
    }
    if (resourceVersion === undefined || resourceVersion === held) return found
    throw changed(`${kind} ${namespace}/${name}`)
  }

  /**
   * Changes an object, in memory and in its file.
   *
   * @param when `later`: what this process made is written when there is something to report of it, so that a file is
   *   written once for what many steps do
   */
  async #change(
    ref: StoredRef,
    before: Fields | undefined,
    after: Fields,
    when: 'now' | 'later',
  ): Promise<StoredObject> {
    const id = idOf(ref)
    const isChanged = !isDeepStrictEqual(before, after)
    if (isChanged && when === 'later' && this.#mayWait(ref, before, after)) {
      if (!this.#bases.has(id)) this.#bases.set(id, this.scanner.definitions.get(id))
      this.#show(ref, after)
    } else if (isChanged || (when === 'now' && this.#bases.has(id))) {
      await this.#writeOwner(after)
      await this.#write(ref, after)
    }
    const object = this.#get(ref)
    if (object !== undefined) return object
    throw new ApiError(
      'Unavailable',
      `${ref.kind} ${ref.name} is not in the file it was written to`,
    )
  }

  /** Tells whether an object has never been in a file. */
  #isNew(id: string): boolean {
    return this.#bases.has(id) && this.#bases.get(id) === undefined
  }

  #isFiled(ref: StoredRef): boolean {
    return this.scanner.definitions.fileOf(ref) !== undefined
  }

  #mayWait(ref: StoredRef, before: Fields | undefined, after: Fields): boolean {
    if (this.#files.isOwn(ref)) return true
    const { status: _, ...rest } = after
    const { status: __, ...restBefore } = before ?? {}
    return isDeepStrictEqual(rest, restBefore)
  }

  /**
   * Writes the owner of an object first. Otherwise a process that starts after a kill finds an object whose owner is absent, or
   * does not name it.
   */
  async #writeOwner(value: Fields): Promise<void> {
    const [owner] = identified('Version', value, '').metadata.ownerReferences
    const kind = objectKinds.find((one) => one === owner?.kind)
    if (owner === undefined || kind === undefined) return
    const { namespace = 'default' } = record(value['metadata'])
    const ref = { kind, namespace: String(namespace), name: owner.name }
    const id = idOf(ref)
    if (this.#bases.has(id)) await this.#write(ref, this.#values.get(id) ?? {})
  }

  async #write(ref: StoredRef, after: Fields): Promise<void> {
    const id = idOf(ref)
    const base = this.#bases.get(id)
    const isAhead = this.#bases.delete(id)
    try {
      await this.#files.write(ref, after)
      // Memory has the object as the file contains it.
      this.#show(ref, this.scanner.definitions.get(id))
    } catch (error) {
      if (isAhead) this.#bases.set(id, base)
      throw error
    }
  }

  async #remove(ref: StoredRef): Promise<void> {
    this.#bases.delete(idOf(ref))
    await this.#files.remove(ref)
    this.#show(ref, this.scanner.definitions.get(idOf(ref)))
  }

  #now(): string {
    return new Date(this.#clock()).toISOString()
  }

  #nextRevision(): string {
    this.#revision += 1
    return String(this.#revision)
  }
}
