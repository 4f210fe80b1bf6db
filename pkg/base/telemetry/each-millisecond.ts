/** Gives what is made of the time as RFC 3339 says it; made once a millisecond. */
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
