/** Limits of the work on Versions, and what is known of those in work: their archives, releases and signing keys. */

import type { Version } from '../../../api/v1alpha1/v1alpha1.ts'
import type { Spool } from '../../../archives/spool/spool.ts'
import type { Clock } from '../../../base/pacing/pacing.ts'
import type { StoredObject, StoredRef } from '../../../records/store/store.ts'
import { keyOf } from '../objects.ts'
import { versionOfStored } from '../parent/versions.ts'
import type { Candidate } from './work.ts'

/**
 * Limits how many Versions ask one host at a time, so that a slow host does not slow down others. Only a Version in work has
 * slots, and it returns them at its end, or when the rest of its work asks no host. A Version that finds no slot waits in the
 * queue; no slot is reserved for it.
 */
export class HostSlots {
  readonly #perHost: number
  readonly #onFree: () => void
  /** Keys that have a slot, by host. */
  readonly #taken = new Map<string, Set<string>>()

  /** @param onFree called when slots were returned, so that a Version that waits may begin */
  constructor(perHost: number, onFree: () => void = () => undefined) {
    this.#perHost = perHost
    this.#onFree = onFree
  }

  /** @returns whether the key has a slot of the host now */
  take(host: string, key: string): boolean {
    const taken = this.#taken.get(host) ?? new Set()
    if (taken.has(key)) return true
    if (taken.size >= this.#perHost) return false
    this.#taken.set(host, taken.add(key))
    return true
  }

  /**
   * Returns every slot of a key; it may have slots of two hosts if its source moved.
   *
   * @param kept the host whose slot it keeps
   */
  free(key: string, kept?: string): void {
    let isFreed = false
    for (const [host, taken] of this.#taken) {
      if (host === kept || !taken.delete(key)) continue
      isFreed = true
      if (taken.size === 0) this.#taken.delete(host)
    }
    if (isFreed) this.#onFree()
  }
}

const pauseMs = 10 * 60_000

/** Limits how many stored archives are read for their documentation, so that new versions do not wait for long. */
export class DocsAllowance {
  readonly #clock: Clock
  readonly #maxAtOnce: number
  #left: number
  #untilMs = 0

  constructor(clock: Clock, maxAtOnce = 200) {
    this.#clock = clock
    this.#maxAtOnce = maxAtOnce
    this.#left = maxAtOnce
  }

  /** Takes one. @returns how long to wait if there is none */
  take(): number | undefined {
    const nowMs = this.#clock()
    if (this.#untilMs <= nowMs) {
      this.#left = this.#maxAtOnce
      this.#untilMs = nowMs + pauseMs
    }
    if (this.#left === 0) return this.#untilMs - nowMs
    this.#left -= 1
    return undefined
  }
}

/**
 * Archives that are being stored for a Version whose status does not name them yet, and archives that are being removed. A
 * name holds a digest, so two Versions may share an object, which must not be removed for one while the other stores it.
 */
export class ArchivesInUse {
  /** Number of Versions that are being stored as an object. */
  readonly #held = new Map<string, number>()
  readonly #removals = new Map<string, Promise<void>>()

  /**
   * Waits for removals of objects, then protects the objects from removal.
   *
   * @returns ends the protection
   */
  async hold(placeId: string, fileNames: readonly string[]): Promise<() => void> {
    const keys = fileNames.map((fileName) => fileKeyOf(placeId, fileName))
    for (let running = this.#removing(keys); running !== undefined; ) {
      await running.catch(() => undefined)
      running = this.#removing(keys)
    }
    for (const key of keys) this.#held.set(key, (this.#held.get(key) ?? 0) + 1)
    return () => {
      for (const key of keys) {
        const left = (this.#held.get(key) ?? 1) - 1
        if (left === 0) this.#held.delete(key)
        else this.#held.set(key, left)
      }
    }
  }

  /**
   * Removes an object that nothing holds. A removal that runs already is shared, including its failure.
   *
   * @param remove is called at once, so that facts looked up just before are still true
   * @returns false if the object is held; then nothing was done
   */
  async remove(placeId: string, fileName: string, remove: () => Promise<void>): Promise<boolean> {
    const key = fileKeyOf(placeId, fileName)
    const running = this.#removals.get(key)
    if (running !== undefined) {
      await running
      return true
    }
    if (this.#held.has(key)) return false
    const removal = remove()
    this.#removals.set(key, removal)
    try {
      await removal
    } finally {
      this.#removals.delete(key)
    }
    return true
  }

  #removing(keys: readonly string[]): Promise<void> | undefined {
    for (const key of keys) {
      const removal = this.#removals.get(key)
      if (removal !== undefined) return removal
    }
    return undefined
  }
}

function fileKeyOf(placeId: string, fileName: string): string {
  return `${placeId}\n${fileName}`
}

/**
 * Archives that could not be stored, kept for a while so that they need not be fetched again. If other fetches wait for room
 * in the spool, the oldest are dropped: an unavailable storage must not delay archives for other storages.
 */
export class HeldArchives {
  readonly #heldMs: number
  readonly #spool: Pick<Spool, 'waiting' | 'onFull'>
  readonly #ignore: () => void
  /** The oldest first. */
  readonly #held = new Map<string, { candidate: Candidate; timer: NodeJS.Timeout }>()

  constructor(heldMs: number, spool: Pick<Spool, 'waiting' | 'onFull'>) {
    this.#heldMs = heldMs
    this.#spool = spool
    this.#ignore = spool.onFull(() => void this.#makeRoom())
  }

  /** @param key names the Version, its source and revision */
  async keep(key: string, candidate: Candidate): Promise<void> {
    await this.drop(key)
    const timer = setTimeout(() => void this.drop(key), this.#heldMs)
    timer.unref()
    this.#held.set(key, { candidate, timer })
    await this.#makeRoom()
  }

  take(key: string): Candidate | undefined {
    const held = this.#held.get(key)
    clearTimeout(held?.timer)
    this.#held.delete(key)
    return held?.candidate
  }

  async drop(key: string): Promise<void> {
    await this.take(key)?.file.remove()
  }

  async close(): Promise<void> {
    this.#ignore()
    for (const key of Array.from(this.#held.keys())) await this.drop(key)
  }

  async #makeRoom(): Promise<void> {
    for (const key of Array.from(this.#held.keys())) {
      if (this.#spool.waiting === 0) return
      await this.drop(key)
    }
  }
}

/** The Versions that wait for other platforms of their release. */
export class AwaitedReleases {
  readonly #waiting = new Map<string, { readonly release: string; readonly ref: StoredRef }>()

  /** @param release a version of a provider */
  wait(release: string, ref: StoredRef): void {
    this.#waiting.set(keyOf(ref), { release, ref })
  }

  /** Forgets a Version that does not wait any more. */
  end(key: string): void {
    this.#waiting.delete(key)
  }

  /** Takes those that wait for other platforms of a release. */
  take(release: string): readonly StoredRef[] {
    const found = [...this.#waiting.values()].filter((one) => one.release === release)
    for (const { ref } of found) this.end(keyOf(ref))
    return found.map(({ ref }) => ref)
  }
}

interface Waking {
  readonly awaited: AwaitedReleases
  readonly wake: (ref: StoredRef, priority: 'user') => void
}

/**
 * Requests work on the platforms that wait for this one, or for its removal. It must not wait itself, because two that wait
 * would wake each other for ever.
 */
export function wakeRelease({ awaited, wake }: Waking, object: StoredObject): void {
  for (const ref of awaited.take(releaseIdOf(object))) wake(ref, 'user')
}

export const releaseIdOf = (object: StoredObject): string =>
  `${object.metadata.namespace}/${providerOf(object)} ${versionOfStored(object)}`

/** The name of its provider, without reading the rest, which takes long. */
export function providerOf({ spec }: StoredObject): string | undefined {
  const { type, providerConfigRef } = spec as Partial<Version['spec']>
  return type === 'Provider' ? providerConfigRef?.name : undefined
}

interface SignerFields {
  readonly signingKey?: string
  readonly release?: { readonly keyFingerprint?: string }
  readonly artifact?: { readonly storedAt?: string }
}

/**
 * The key that signed the first version of each provider. The status names it once a version is stored; until then this
 * memory prevents two concurrent versions from becoming first with different keys.
 */
export class FirstSigners {
  /** By provider: the key, and the Versions in work that it signed. */
  readonly #firsts = new Map<string, { readonly key: string; readonly inWork: Set<string> }>()

  /**
   * Returns the first signer of a provider; the given key becomes the first signer if there is none.
   *
   * @param versions the Versions of the provider
   * @param version the one in work
   */
  of(
    provider: StoredObject,
    versions: readonly StoredObject[],
    fingerprint: string,
    version: string,
  ): string {
    const known = firstSigner(provider, versions)
    if (known !== undefined) return known
    const { uid } = provider.metadata
    const first = this.#firsts.get(uid) ?? { key: fingerprint, inWork: new Set() }
    this.#firsts.set(uid, first)
    if (first.key === fingerprint) first.inWork.add(version)
    return first.key
  }

  /** Forgets a key once no Version that it signed is in work: what was not stored may have been damaged or forged. */
  ended(version: string): void {
    for (const [uid, { inWork }] of this.#firsts) {
      if (inWork.delete(version) && inWork.size === 0) this.#firsts.delete(uid)
    }
  }
}

/** The key that the status of a provider names, otherwise the key of the Version that was stored first. */
export function firstSigner(
  provider: StoredObject,
  versions: readonly StoredObject[],
): string | undefined {
  const { signingKey } = (provider.status ?? {}) as SignerFields
  if (signingKey !== undefined) return signingKey
  let first: { readonly at: string; readonly key: string } | undefined
  for (const { status } of versions) {
    const { release, artifact } = (status ?? {}) as SignerFields
    const [key, at] = [release?.keyFingerprint, artifact?.storedAt]
    if (key === undefined || at === undefined) continue
    if (first === undefined || at < first.at) first = { at, key }
  }
  return first?.key
}
