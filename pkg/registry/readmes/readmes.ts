/** READMEs of the latest versions: the catalog names their ConfigMaps, a keeper reads them, the browse API shows them. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Catalog, ReadmeRef } from '../catalog/catalog.ts'

/** READMEs by the ConfigMap that holds them. */
export interface ReadmeReader {
  /** Counts changes. */
  readonly revision: number
  /** Decoded Markdown; undefined if the Version may not show this ConfigMap, or it was not read yet. */
  get(namespace: string, configMap: string, key: string, version: string): string | undefined
}

/** Reads the READMEs that are wanted, from a cluster or a folder. */
export interface ReadmeKeeper extends ReadmeReader {
  want(namespace: string, configMap: string): void
  forget(namespace: string, configMap: string): void
}

/** How long to wait for a catalog that is changing all the time. */
const settlingMs = 10_000

/**
 * Passes the wishes of the catalog on to a keeper, which starts later. Several modules may name the same ConfigMap: it is
 * kept until the last one no longer does.
 */
export class LatestReadmes implements ReadmeReader {
  readonly #wanted = new Map<string, { namespace: string; name: string; count: number }>()
  #keeper: ReadmeKeeper | undefined

  get revision(): number {
    return this.#keeper?.revision ?? 0
  }

  get(namespace: string, name: string, key: string, version: string): string | undefined {
    return this.#keeper?.get(namespace, name, key, version)
  }

  /** Notes that the README of a module moved to another ConfigMap. */
  readonly note = (
    namespace: string,
    now: ReadmeRef | undefined,
    before: ReadmeRef | undefined,
  ): void => {
    if (now?.name === before?.name) return
    if (now !== undefined) this.#count(namespace, now.name, 1)
    if (before !== undefined) this.#count(namespace, before.name, -1)
  }

  /** Waits until the catalog has settled, then asks for every README at once, so that one watch brings nearly all of them. */
  async keepIn(keeper: ReadmeKeeper, catalog: Catalog): Promise<void> {
    await Promise.race([catalog.model.whenSettled, sleep(settlingMs, undefined, { ref: false })])
    this.#keeper = keeper
    for (const { namespace, name } of this.#wanted.values()) keeper.want(namespace, name)
  }

  #count(namespace: string, name: string, change: 1 | -1): void {
    const key = `${namespace}/${name}`
    const before = this.#wanted.get(key)?.count ?? 0
    const count = before + change
    if (count > 0) this.#wanted.set(key, { namespace, name, count })
    else this.#wanted.delete(key)
    if (before === 0 && count > 0) this.#keeper?.want(namespace, name)
    if (count <= 0) this.#keeper?.forget(namespace, name)
  }
}
