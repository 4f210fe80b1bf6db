interface Filled {
  once(event: 'drain' | 'close', listener: () => void): unknown
}

/** Waits until a stream of tar-stream takes more, or is over. */
export function drained(stream: Filled): Promise<void> {
  return new Promise((resolve) => {
    stream.once('drain', () => resolve())
    stream.once('close', () => resolve())
  })
}
