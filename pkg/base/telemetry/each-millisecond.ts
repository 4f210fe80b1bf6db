/** Calls `make` with the time in RFC 3339, at most once a millisecond, and returns its latest result. */
export function eachMillisecond<T>(make: (time: string) => T): () => T {
  let madeAtMs = Number.NaN
  let made: T
  return () => {
    const nowMs = Date.now()
    if (nowMs !== madeAtMs) {
      madeAtMs = nowMs
      made = make(new Date(nowMs).toISOString())
    }
    return made
  }
}
