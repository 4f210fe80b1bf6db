import { setTimeout as sleep } from 'node:timers/promises'
import type { Readmes } from '../../pkg/records/kube/kube.ts'
import type { Catalog, ReadmeRef } from '../../pkg/registry/catalog/catalog.ts'

/** Where changes never stop, the catalog is not seen at rest. */
const settlingMs = 10_000

/**
 * READMEs of latest versions: what the catalog tells is passed on to where they are kept, which comes up after it. Several
 * modules may name one ConfigMap; it is kept as long as one does.
 */
export class LatestReadmes {
  readonly #modules = new Map<string, { namespace: string; name: string; count: number }>()
  #kept: Readmes | undefined

  get revision(): number {
    return this.#kept?.revision ?? 0
  }

  get(namespace: string, name: string, key: string, version: string): string | undefined {
    return this.#kept?.get(namespace, name, key, version)
  }

  /** Takes note of where the README of a module is now, and where it was. */
  readonly note = (
    namespace: string,
    now: ReadmeRef | undefined,
    before: ReadmeRef | undefined,
  ): void => {
    if (now?.name === before?.name) return
    if (now !== undefined) this.#want(namespace, now.name)
    if (before !== undefined) this.#forget(namespace, before.name)
  }

  /**
   * Begins to have them kept, once the catalog is at rest: all are asked for at once then, so that the watch brings them
   * and hardly any has to be fetched by itself.
   */
  async keepIn(readmes: Readmes, catalog: Catalog): Promise<void> {
    await Promise.race([catalog.model.whenSettled, sleep(settlingMs, undefined, { ref: false })])
    this.#kept = readmes
    for (const { namespace, name } of this.#modules.values()) readmes.want(namespace, name)
  }

  #want(namespace: string, name: string): void {
    const key = `${namespace}/${name}`
    const { count = 0 } = this.#modules.get(key) ?? {}
    this.#modules.set(key, { namespace, name, count: count + 1 })
    if (count === 0) this.#kept?.want(namespace, name)
  }

  #forget(namespace: string, name: string): void {
    const key = `${namespace}/${name}`
    const { count = 0 } = this.#modules.get(key) ?? {}
    if (count > 1) {
      this.#modules.set(key, { namespace, name, count: count - 1 })
      return
    }
    this.#modules.delete(key)
    this.#kept?.forget(namespace, name)
  }
}
