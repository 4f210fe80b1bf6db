import { isDeepStrictEqual } from 'node:util'
import type { ObjectKey } from '../../api/v1alpha1/v1alpha1.ts'
import type { Keeper } from './keeper.ts'
import type { Entry, ManifestFile } from './manifest-file.ts'
import type { StatusReading } from './read-object.ts'
import type { Rejection } from './rejections.ts'

/** One definition of an object: a position in a file. */
interface Claim<O> {
  readonly key: ObjectKey
  readonly file: string
  readonly line: number | undefined
  /** Position in the file. */
  readonly order: number
  /**
   * `broken`: the position names the object, but its content is rejected. `lost`: the object was in the file, and a part
   * of the file cannot be read now. `status`: the position has the status of an object that another file defines.
   */
  readonly state: 'valid' | 'broken' | 'lost' | 'status'
  /** The last object at this position that was valid. */
  readonly object: O | undefined
  readonly status: StatusReading | undefined
}

/** A file that returns within this time and cannot be read keeps its previous content. */
const memoryMs = 60_000

/** An object to serve after a change. */
export interface Resolution<O> {
  readonly id: string
  readonly key: ObjectKey
  /** The file that changed it last. */
  readonly file: string
  /** Undefined if the object was removed. */
  readonly object: O | undefined
  /** Definitions of an object that an earlier definition takes precedence over. */
  readonly duplicates: readonly Rejection[]
}

/**
 * The objects of all files. If several files define an object, the first in order of path wins. If a mistake leaves no valid
 * definition, the last valid one stays.
 */
export class Definitions<O> {
  readonly #keeper: Pick<Keeper<O, unknown>, 'withStatus'>
  readonly #files = new Map<string, readonly Claim<O>[]>()
  readonly #places = new Map<string, Claim<O>[]>()
  readonly #current = new Map<string, O>()
  /** The last content of missing files, those missing for longest first. */
  readonly #missing = new Map<string, { claims: readonly Claim<O>[]; sinceMs: number }>()
  readonly #dirty = new Map<string, { readonly key: ObjectKey; readonly file: string }>()

  constructor(keeper: Pick<Keeper<O, unknown>, 'withStatus'>) {
    this.#keeper = keeper
  }

  get size(): number {
    return this.#current.size
  }

  /** Whether an object is in no file now, and is not removed yet. */
  get hasAbsent(): boolean {
    return this.#dirty.size > 0
  }

  get(id: string): O | undefined {
    return this.#current.get(id)
  }

  /** Whether a file has a valid definition of an object. */
  defines(file: string, key: ObjectKey): boolean {
    const places = this.#places.get(idOf(key)) ?? []
    return places.some(
      (place) => place.file === file && (place.state === 'valid' || place.state === 'status'),
    )
  }

  /** The file that defines an object now; undefined if none does. */
  fileOf(key: ObjectKey): string | undefined {
    return winnerOf(this.#placesOf(idOf(key)))?.file
  }

  /** The separate file with the status of an object. */
  statusFileOf(key: ObjectKey): string | undefined {
    return this.#placesOf(idOf(key)).find(isStatus)?.file
  }

  /** Statuses whose object is in no file and was removed. */
  *strayStatuses(): Generator<Pick<Claim<O>, 'key' | 'status'>> {
    for (const [id, places] of this.#places) {
      const [first] = places
      if (first !== undefined && !this.#current.has(id) && places.every(isStatus)) yield first
    }
  }

  /** @param from the previous name of a renamed file */
  replace(file: string, content: ManifestFile<O, unknown>, from: string = file): void {
    const before = this.#files.get(from) ?? this.#missing.get(file)?.claims ?? []
    this.#missing.delete(file)
    const last = new Map<string, O>()
    for (const { key, object } of before.toReversed()) {
      if (object !== undefined) last.set(idOf(key), object)
    }
    const claims = content.entries.map((entry, order) => claimOf(entry, file, order, last))
    // A name that the file never had may be truncated.
    const isStrange = claims.some(({ state, object }) => state === 'broken' && object === undefined)
    if (content.incomplete || isStrange) {
      const named = new Set(claims.map(({ key }) => idOf(key)))
      for (const claim of before) {
        if (claim.state === 'broken' && claim.object === undefined) continue
        if (named.has(idOf(claim.key))) continue
        const state = isStatus(claim) ? 'status' : 'lost'
        claims.push({ ...claim, file, order: claims.length, state })
      }
    }
    this.#withdraw(this.#files.get(file) ?? [])
    this.#files.set(file, claims)
    for (const claim of claims) {
      const id = idOf(claim.key)
      const places = this.#places.get(id)
      if (places === undefined) this.#places.set(id, [claim])
      else places.push(claim)
      this.#dirty.set(id, { key: claim.key, file })
    }
  }

  remove(file: string): void {
    const claims = this.#files.get(file) ?? []
    this.#withdraw(claims)
    this.#files.delete(file)
    const nowMs = performance.now()
    for (const [other, { sinceMs }] of this.#missing) {
      if (nowMs - sinceMs < memoryMs) break
      this.#missing.delete(other)
    }
    this.#missing.set(file, { claims, sinceMs: nowMs })
  }

  /**
   * Resolves every object that a change since the last call may have affected.
   *
   * @param mayReappear keep objects that are in no file now, because they may be moving between files
   */
  *resolve(mayReappear: boolean): Generator<Resolution<O>> {
    for (const [id, { key, file }] of this.#dirty) {
      const places = this.#placesOf(id)
      const winner = winnerOf(places)
      const status = places.find(isStatus)
      const isNamed = places.some((place) => !isStatus(place))
      const object = winner?.object ?? (isNamed ? this.#current.get(id) : undefined)
      if (object === undefined && mayReappear && this.#current.has(id)) continue
      this.#dirty.delete(id)
      const whole =
        winner?.object === undefined || status?.status === undefined
          ? object
          : this.#keeper.withStatus(winner.object, status.status)
      if (whole === undefined) this.#current.delete(id)
      else this.#current.set(id, whole)
      const duplicates = places
        .filter((place) => place !== winner && place !== status)
        .filter(({ state }) => state === 'valid' || state === 'status')
        .map((place) => duplicateOf(place, isStatus(place) ? status : winner))
      yield { id, key, file, object: whole, duplicates }
    }
  }

  /** Removes an object that this process deleted, without waiting for its files to settle. */
  drop(key: ObjectKey): void {
    const id = idOf(key)
    if (this.#placesOf(id).some((place) => !isStatus(place))) return
    this.#current.delete(id)
    this.#dirty.delete(id)
  }

  /** Resolves these again, because they were not accepted. */
  reopen(resolutions: readonly Resolution<O>[]): void {
    for (const { id, key, file } of resolutions) this.#dirty.set(id, { key, file })
  }

  /** The definitions of an object, in order of path. */
  #placesOf(id: string): readonly Claim<O>[] {
    const places = this.#places.get(id) ?? []
    return places.toSorted((a, b) =>
      a.file === b.file ? a.order - b.order : a.file < b.file ? -1 : 1,
    )
  }

  #withdraw(claims: readonly Claim<O>[]): void {
    for (const { key, file } of claims) {
      const id = idOf(key)
      const rest = this.#places.get(id)?.filter((place) => place.file !== file) ?? []
      if (rest.length === 0) this.#places.delete(id)
      else this.#places.set(id, rest)
      this.#dirty.set(id, { key, file })
    }
  }
}

/** Shares one string for each object. */
export function idOf({ kind, namespace, name }: ObjectKey): string {
  return JSON.stringify([kind, namespace, name])
}

const isStatus = ({ state }: Claim<unknown>): boolean => state === 'status'

function winnerOf<O>(places: readonly Claim<O>[]): Claim<O> | undefined {
  const usable = places.filter(({ object }) => object !== undefined)
  return usable.find(({ state }) => state !== 'lost') ?? usable[0]
}

/** An object that equals the previous one keeps its identity, so that nothing is passed on. */
function claimOf<O>(
  { key, line, object, status }: Entry<O>,
  file: string,
  order: number,
  last: ReadonlyMap<string, O>,
): Claim<O> {
  const place = { key, file, line, order, status }
  if (status !== undefined) return { ...place, state: 'status', object: undefined }
  const before = last.get(idOf(key))
  if (object === undefined) return { ...place, state: 'broken', object: before }
  const same = before !== undefined && isDeepStrictEqual(before, object)
  return { ...place, state: 'valid', object: same ? before : object }
}

function duplicateOf(
  { key, file, line }: Claim<unknown>,
  winner: Claim<unknown> | undefined,
): Rejection {
  const place = winner?.line === undefined ? winner?.file : `${winner.file}:${winner.line}`
  const message = `is already defined in ${place}; remove one of the two`
  return { file, line, reason: 'Duplicate', kind: key.kind, object: key, message }
}
