import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  apiVersionOf,
  formatPath,
  kinds,
  mistakesIn,
  parseResource,
} from '../../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../../base/pacing/pacing.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import { ApiError, type JsonPatchOperation } from '../../kube/kube.ts'
import { ObjectMemory, objectKinds } from '../memory.ts'
import type { AppliedObject, StoredObject, StoredRef } from '../types.ts'
import { record } from '../whole-object.ts'
import { applied } from './applied.ts'
import { type FiledObject, Files } from './files.ts'
import { identified } from './identity.ts'
import { patched } from './patch.ts'
import { rewritten, textOf } from './text.ts'
import { changed, removeFile, writeFile } from './write-file.ts'

type Fields = Readonly<Record<string, unknown>>

/** How long an object must be missing: an editor may empty a file before it writes it. */
const goneMs = 500
/** A text that is longer is read again after it was written, in case that it is too long to be read. */
const maxTrusted = 100_000

/** What a folder holds, and what is written into it; one write after the other. */
export class FolderState {
  readonly memory: ObjectMemory
  readonly #dir: string
  readonly #apiGroup: string
  readonly #log: Logger
  readonly #clock: Clock
  readonly #files: Files
  /** Where each object stands. */
  readonly #filed = new Map<string, FiledObject>()
  /** Those whose file holds what this process wrote, and nothing else. */
  readonly #whole = new WeakSet<FiledObject>()
  /** Since when an object is missing, on the clock of `performance.now()`. */
  readonly #missing = new Map<string, number>()
  #revision = 0
  #isScanned = false
  /** The last write or scan; the next one waits for it. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: {
    readonly dir: string
    readonly apiGroup: string
    readonly log: Logger
    readonly clock: Clock
  }) {
    this.#dir = options.dir
    this.#apiGroup = options.apiGroup
    this.#log = options.log
    this.#clock = options.clock
    this.#files = new Files(options)
    this.memory = new ObjectMemory(options.log)
  }

  /** @returns how soon to look again, in milliseconds, where something is about to be taken for gone */
  scan(): Promise<number | undefined> {
    return this.#inTurn(() => this.#scan())
  }

  secret(namespace: string, name: string): Readonly<Record<string, Buffer>> | undefined {
    for (const { secrets } of this.#files.all.values()) {
      const found = secrets.find((it) => it.namespace === namespace && it.name === name)
      if (found !== undefined) return found.values
    }
    return undefined
  }

  /** A file of which some part cannot be read. */
  unreadable(): string | undefined {
    for (const [file, { isBroken }] of this.#files.all) if (isBroken) return file
    return undefined
  }

  fresh(ref: StoredRef): Promise<StoredObject | undefined> {
    return this.#inTurn(async () => {
      const filed = this.#filed.get(keyOf(ref))
      const isCurrent = filed !== undefined && (await this.#files.textOf(filed.file)) !== undefined
      if (!isCurrent) await this.#scan()
      return this.#get(ref)
    })
  }

  apply(object: AppliedObject): Promise<StoredObject> {
    const { kind, metadata } = object
    const ref = { kind, namespace: metadata.namespace, name: metadata.name }
    return this.#inTurn(async () => {
      const before = await this.#current(ref)
      if (before !== undefined) {
        const after = applied(before.value, object)
        this.#check(ref, after, true)
        return this.#write(before, after)
      }
      const value = {
        apiVersion: apiVersionOf(kind, this.#apiGroup),
        ...(JSON.parse(JSON.stringify(object)) as Fields),
        metadata: {
          ...(JSON.parse(JSON.stringify(metadata)) as Fields),
          creationTimestamp: new Date(this.#clock()).toISOString(),
        },
      }
      this.#check(ref, value, true)
      return this.#create(ref, value)
    })
  }

  patch(
    ref: StoredRef,
    patch: Fields | readonly JsonPatchOperation[],
    resourceVersion: string | undefined,
  ): Promise<StoredObject> {
    return this.#inTurn(async () => {
      const before = await this.#existing(ref, resourceVersion)
      const after = patched(before.value, patch)
      this.#check(ref, after, false)
      const { deletionTimestamp, finalizers } = record(after['metadata'])
      const isFree = !Array.isArray(finalizers) || finalizers.length === 0
      if (deletionTimestamp === undefined || !isFree) return this.#write(before, after)
      const last = identified(ref.kind, after, this.#nextRevision())
      await this.#remove(before)
      return last
    })
  }

  writeStatus(object: StoredObject, status: unknown): Promise<StoredObject> {
    const { kind, metadata } = object
    const ref = { kind, namespace: metadata.namespace, name: metadata.name }
    return this.#inTurn(async () => {
      const before = await this.#existing(ref, metadata.resourceVersion)
      const after = { ...before.value, status: JSON.parse(JSON.stringify(status)) as unknown }
      this.#check(ref, after, false)
      return this.#write(before, after)
    })
  }

  delete(ref: StoredRef, uid: string | undefined): Promise<void> {
    return this.#inTurn(async () => {
      const before = await this.#current(ref)
      const held = this.#get(ref)
      if (before === undefined || held === undefined) return
      if (uid !== undefined && held.metadata.uid !== uid) return
      if (held.metadata.finalizers.length === 0) {
        await this.#remove(before)
        // A Version owns nothing.
        if (ref.kind !== 'Version') await this.#collect()
      } else if (held.metadata.deletionTimestamp === undefined) await this.#mark(before)
    })
  }

  async #scan(): Promise<number | undefined> {
    await this.#files.scan()
    this.#takeIn()
    const nowMs = performance.now()
    for (const [key, sinceMs] of this.#missing) {
      if (nowMs - sinceMs < goneMs) continue
      const filed = this.#filed.get(key)
      this.#missing.delete(key)
      if (filed !== undefined) this.#forget(filed)
    }
    this.#isScanned = true
    await this.#collect()
    return this.#missing.size > 0 ? goneMs : undefined
  }

  /** What the files say now: of several places that define an object the first one counts. */
  #takeIn(): void {
    const found = new Map<string, FiledObject>()
    for (const { objects } of this.#files.all.values()) {
      for (const object of objects) {
        const key = keyOf(object)
        if (!found.has(key)) found.set(key, object)
      }
    }
    for (const object of found.values()) this.#keep(object)
    for (const key of this.#filed.keys()) {
      if (found.has(key) || this.#missing.has(key)) continue
      this.#missing.set(key, performance.now())
    }
  }

  #keep(object: FiledObject): void {
    const key = keyOf(object)
    this.#missing.delete(key)
    const before = this.#filed.get(key)
    this.#filed.set(key, object)
    if (before === undefined || !isDeepStrictEqual(before.value, object.value)) {
      this.memory.set(identified(object.kind, object.value, this.#nextRevision()))
    }
  }

  /**
   * Deletes what was made for an object that is gone, as a cluster does. Nothing is, while anything in the folder cannot be
   * read: the owner may stand there.
   */
  async #collect(): Promise<void> {
    const files = [...this.#files.all.values()]
    if (!this.#isScanned || this.#missing.size > 0 || files.some(({ isBroken }) => isBroken)) return
    const parents = objectKinds.flatMap((kind) => this.memory.list(kind))
    const uids = new Set(parents.map(({ metadata }) => metadata.uid))
    for (const { kind, metadata } of parents) {
      const owner = metadata.ownerReferences.find(({ controller }) => controller === true)
      const ref = { kind, namespace: metadata.namespace, name: metadata.name }
      const filed = this.#filed.get(keyOf(ref))
      if (owner === undefined || uids.has(owner.uid) || filed?.file !== fileOf(ref)) continue
      if (metadata.deletionTimestamp !== undefined) continue
      this.#log.info({ ...ref, owner: owner.name }, 'deleted, because its owner is gone')
      if (metadata.finalizers.length === 0) await this.#remove(filed)
      else await this.#mark(filed)
    }
  }

  /** Says that an object is to go once its finalizers are gone. */
  async #mark(filed: FiledObject): Promise<void> {
    const deletionTimestamp = new Date(this.#clock()).toISOString()
    const metadata = { ...record(filed.value['metadata']), deletionTimestamp }
    await this.#write(filed, { ...filed.value, metadata })
  }

  #get({ kind, namespace, name }: StoredRef): StoredObject | undefined {
    return this.memory.get(kind, namespace, name)
  }

  /** Where an object stands now, after whatever people did to its file. */
  async #current(ref: StoredRef): Promise<FiledObject | undefined> {
    const filed = this.#filed.get(keyOf(ref))
    if (filed !== undefined && (await this.#files.textOf(filed.file)) === undefined) {
      await this.#files.scan()
      this.#takeIn()
    }
    const key = keyOf(ref)
    return this.#missing.has(key) ? undefined : this.#filed.get(key)
  }

  /** @throws ApiError NotFound or Conflict */
  async #existing(ref: StoredRef, resourceVersion: string | undefined): Promise<FiledObject> {
    const found = await this.#current(ref)
    const { kind, namespace, name } = ref
    if (found === undefined) {
      const missing = this.#filed.get(keyOf(ref))?.file
      // The file is there: it may be in the middle of being written.
      if (missing !== undefined && this.#files.all.has(missing)) throw changed(missing)
      throw new ApiError('NotFound', `${kind} ${namespace}/${name} is not in the folder`)
    }
    const held = this.#get(ref)?.metadata.resourceVersion
    if (resourceVersion === undefined || resourceVersion === held) return found
    throw changed(`${kind} ${namespace}/${name}`)
  }

  /** @throws ApiError Invalid, as an API server would refuse it */
  #check({ kind, namespace, name }: StoredRef, value: unknown, withRules: boolean): void {
    const parsed = parseResource(kind, value)
    const [issue] = parsed.ok ? (withRules ? mistakesIn(parsed.resource) : []) : parsed.issues
    if (issue === undefined) return
    const message = `${kind} ${namespace}/${name}: ${formatPath(issue.path)} ${issue.message}`
    throw new ApiError('Invalid', message)
  }

  async #create(ref: StoredRef, value: Fields): Promise<StoredObject> {
    const file = fileOf(ref)
    return this.#writeWhole({ ...ref, file, part: 0, path: [], value })
  }

  /** Writes a file that holds nothing but an object, in the words of this process: it need not be read to know it. */
  async #writeWhole(object: FiledObject, expected?: string): Promise<StoredObject> {
    const { file } = object
    const value = JSON.parse(JSON.stringify(object.value)) as Fields
    const text = textOf(value)
    await writeFile(join(this.#dir, file), text, expected)
    if (text.length > maxTrusted) return this.#wrote(object, file, text)
    const whole = { ...object, value }
    this.#whole.add(whole)
    return this.#wrote(object, file, text, whole)
  }

  async #write(before: FiledObject, after: Fields): Promise<StoredObject> {
    const held = this.#get(before)
    if (held !== undefined && isDeepStrictEqual(before.value, after)) return held
    const current = await this.#textOf(before)
    const isWhole =
      before.file === fileOf(before) &&
      (this.#whole.has(before) || current === textOf(before.value))
    if (isWhole) return this.#writeWhole({ ...before, value: after }, current)
    const text = rewritten(before.file, current, before, after)
    if (text === undefined) throw new Error('an object that was changed has no text')
    await writeFile(join(this.#dir, before.file), text, current)
    return this.#wrote(before, before.file, text)
  }

  async #remove(before: FiledObject): Promise<void> {
    const path = join(this.#dir, before.file)
    const current = await this.#textOf(before)
    const text = rewritten(before.file, current, before, undefined)
    if (text === undefined) removeFile(path, current)
    else await writeFile(path, text, current)
    this.#files.wrote(before.file, text)
    this.#forget(before)
    this.#takeIn()
  }

  /** @throws ApiError Conflict where a person writes to the file at the same time */
  async #textOf({ file }: FiledObject): Promise<string> {
    const text = await this.#files.textOf(file)
    if (text !== undefined) return text
    throw changed(file)
  }

  #wrote(ref: StoredRef, file: string, text: string, known?: FiledObject): StoredObject {
    this.#files.wrote(file, text, known)
    for (const object of this.#files.all.get(file)?.objects ?? []) {
      const other = this.#filed.get(keyOf(object))?.file
      if (other === undefined || other === file) this.#keep(object)
    }
    const object = this.#get(ref)
    if (object !== undefined) return object
    throw new ApiError('Unavailable', `${file} does not hold what was written to it`)
  }

  #forget(filed: FiledObject): void {
    const { kind, namespace, name } = filed
    this.#filed.delete(keyOf(filed))
    this.memory.delete({ kind, namespace, name })
  }

  #nextRevision(): string {
    this.#revision += 1
    return String(this.#revision)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => undefined)
    return result
  }
}

function keyOf({ kind, namespace, name }: StoredRef): string {
  return `${kind} ${namespace}/${name}`
}

/** The file of an object that is made: a name of its own, whatever characters it has. */
function fileOf({ kind, namespace, name }: StoredRef): string {
  return `${kinds[kind].plural}/${encoded(namespace)}/${encoded(name)}.yaml`
}

function encoded(name: string): string {
  return encodeURIComponent(name).replace(/^\./, '%2E')
}
