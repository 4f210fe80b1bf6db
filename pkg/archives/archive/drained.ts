interface Filled {
  once(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
}

/** Waits until a stream of tar-stream accepts more or is closed. */
export function drained(stream: Filled): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      stream.off('drain', go)
      stream.off('close', go)
      resolve()
    }
    stream.once('drain', go)
    stream.once('close', go)
  })
}
