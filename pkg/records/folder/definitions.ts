import { isDeepStrictEqual } from 'node:util'
import type { ObjectKey, Resource } from '../../api/v1alpha1/v1alpha1.ts'
import type { Entry, ManifestFile } from './manifest-file.ts'
import type { Rejection } from './rejections.ts'

/** What one place in one file says about one object. */
interface Claim {
  readonly key: ObjectKey
  readonly file: string
  readonly line: number | undefined
  /** Position in the file. */
  readonly order: number
  /**
   * `broken`: the place names the object, but what it says is rejected. `lost`: the object was in the file, and a part
   * of the file cannot be read now.
   */
  readonly state: 'valid' | 'broken' | 'lost'
  /** What is, or was last, in order there. */
  readonly resource: Resource | undefined
}

/** What is to be served of an object, after a change. */
export interface Resolution {
  readonly id: string
  readonly key: ObjectKey
  /** The file that changed it last. */
  readonly file: string
  /** Undefined where the object is gone. */
  readonly resource: Resource | undefined
  /** Places that say something about an object which an earlier place defines. */
  readonly duplicates: readonly Rejection[]
}

/**
 * The union of what all files say. Of several places that define an object, the first in order of path wins; and where
 * no place does because of a mistake, what was served last stays.
 */
export class Definitions {
  readonly #files = new Map<string, readonly Claim[]>()
  readonly #places = new Map<string, Claim[]>()
  readonly #current = new Map<string, Resource>()
  readonly #dirty = new Map<string, { readonly key: ObjectKey; readonly file: string }>()

  get size(): number {
    return this.#current.size
  }

  get(id: string): Resource | undefined {
    return this.#current.get(id)
  }

  /** Whether a place in this file defines this object as it should. */
  defines(file: string, key: ObjectKey): boolean {
    const places = this.#places.get(idOf(key)) ?? []
    return places.some((place) => place.file === file && place.state === 'valid')
  }

  /** @param from the file's name before, where it was renamed */
  replace(file: string, content: ManifestFile, from: string = file): void {
    const before = this.#files.get(from) ?? []
    const last = new Map<string, Resource>()
    for (const { key, resource } of before.toReversed()) {
      if (resource !== undefined) last.set(idOf(key), resource)
    }
    const claims = content.entries.map((entry, order) => claimOf(entry, file, order, last))
    if (content.incomplete) {
      const named = new Set(claims.map(({ key }) => idOf(key)))
      for (const claim of before) {
        if (claim.resource === undefined || named.has(idOf(claim.key))) continue
        claims.push({ ...claim, file, order: claims.length, state: 'lost' })
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
    this.#withdraw(this.#files.get(file) ?? [])
    this.#files.delete(file)
  }

  /**
   * Rules on every object that a change since the last call may have touched.
   *
   * @param mayReappear whether an object that is nowhere now may be about to turn up elsewhere: then it stays for now
   */
  *resolve(mayReappear: boolean): Generator<Resolution> {
    for (const [id, { key, file }] of this.#dirty) {
      const places = this.#places.get(id) ?? []
      places.sort((a, b) => (a.file === b.file ? a.order - b.order : a.file < b.file ? -1 : 1))
      const usable = places.filter(({ resource }) => resource !== undefined)
      const winner = usable.find(({ state }) => state !== 'lost') ?? usable[0]
      const resource = winner?.resource ?? (places.length > 0 ? this.#current.get(id) : undefined)
      if (resource === undefined && mayReappear && this.#current.has(id)) continue
      if (resource === undefined) this.#current.delete(id)
      else this.#current.set(id, resource)
      const duplicates = places
        .filter((place) => place.state === 'valid' && place !== winner)
        .map((place) => duplicateOf(place, winner))
      this.#dirty.delete(id)
      yield { id, key, file, resource, duplicates }
    }
  }

  #withdraw(claims: readonly Claim[]): void {
    for (const { key, file } of claims) {
      const id = idOf(key)
      const rest = this.#places.get(id)?.filter((place) => place.file !== file) ?? []
      if (rest.length === 0) this.#places.delete(id)
      else this.#places.set(id, rest)
      this.#dirty.set(id, { key, file })
    }
  }

  /** Has these ruled on again, because they were not taken. */
  reopen(resolutions: readonly Resolution[]): void {
    for (const { id, key, file } of resolutions) this.#dirty.set(id, { key, file })
  }
}

/** One string for each object. */
export function idOf({ kind, namespace, name }: ObjectKey): string {
  return JSON.stringify([kind, namespace, name])
}

/** What is equal to what was there stays the same object, so that nothing is handed on. */
function claimOf(
  { key, line, resource }: Entry,
  file: string,
  order: number,
  last: ReadonlyMap<string, Resource>,
): Claim {
  const before = last.get(idOf(key))
  if (resource === undefined) return { key, file, line, order, state: 'broken', resource: before }
  const same = before !== undefined && isDeepStrictEqual(before, resource)
  return { key, file, line, order, state: 'valid', resource: same ? before : resource }
}

function duplicateOf({ key, file, line }: Claim, winner: Claim | undefined): Rejection {
  const place = winner?.line === undefined ? winner?.file : `${winner.file}:${winner.line}`
  const message = `is already defined in ${place}; remove one of the two`
  return { file, line, reason: 'Duplicate', kind: key.kind, object: key, message }
}
