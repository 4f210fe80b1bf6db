/** Doubles with each attempt up to 5 s, and half of it is chance, so that clients of one outage do not come back at once. */
export function backoff(firstMs: number, attempt: number): number {
  const ms = Math.min(firstMs * 2 ** (attempt - 1), 5000)
  return ms / 2 + (Math.random() * ms) / 2
}
