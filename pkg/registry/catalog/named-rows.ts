/** A map by namespace and name. It has two levels, so that it needs no combined keys. */
export class NamedRows<R> {
  readonly #namespaces = new Map<string, Map<string, R>>()
  #size = 0

  /** The same map, read-only: rows by namespace, then by name. */
  get byNamespace(): ReadonlyMap<string, ReadonlyMap<string, R>> {
    return this.#namespaces
  }

  get size(): number {
    return this.#size
  }

  get(namespace: string, name: string): R | undefined {
    return this.#namespaces.get(namespace)?.get(name)
  }

  getOrSet(namespace: string, name: string, create: () => R): R {
    const known = this.get(namespace, name)
    if (known !== undefined) return known
    const created = create()
    this.set(namespace, name, created)
    return created
  }

  set(namespace: string, name: string, row: R): void {
    let rows = this.#namespaces.get(namespace)
    if (rows === undefined) {
      rows = new Map()
      this.#namespaces.set(namespace, rows)
    }
    const { size } = rows
    rows.set(name, row)
    this.#size += rows.size - size
  }

  delete(namespace: string, name: string): void {
    const rows = this.#namespaces.get(namespace)
    if (rows?.delete(name) !== true) return
    this.#size -= 1
    if (rows.size === 0) this.#namespaces.delete(namespace)
  }

  *entries(): Iterable<[namespace: string, name: string, row: R]> {
    for (const [namespace, rows] of this.#namespaces) {
      for (const [name, row] of rows) yield [namespace, name, row]
    }
  }
}
