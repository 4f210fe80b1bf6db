/** One histogram for one set of labels; callers look it up once and observe cheaply on every request. */
export class Series {
  readonly labels: Readonly<Record<string, string | number>>
  readonly #bounds: readonly number[]
  /** Counts of each bucket alone; the last one is for values above all bounds. */
  readonly #counts: number[]
  #sum = 0

  constructor(labels: Readonly<Record<string, string | number>>, bounds: readonly number[]) {
    this.labels = labels
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#sum += value
  }

  /** The samples in the format of Prometheus. */
  *samples(name: string): Iterable<{
    labels: Record<string, string | number>
    value: number
    metricName: string
  }> {
    let count = 0
    for (const [bucket, own] of this.#counts.entries()) {
      count += own
      const le = this.#bounds[bucket] ?? '+Inf'
      yield { labels: { le, ...this.labels }, value: count, metricName: `${name}_bucket` }
    }
    yield { labels: this.labels, value: this.#sum, metricName: `${name}_sum` }
    yield { labels: this.labels, value: count, metricName: `${name}_count` }
  }
}
