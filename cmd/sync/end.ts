/**
 * Resolves at the first signal that ends a process, or when another process has the folder.
 *
 * @param lost the folder may be lost before this is called
 */
export function untilEnd(lost: AbortSignal): Promise<'SIGINT' | 'SIGTERM' | 'lost'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => resolve(signal))
    }
    const stop = () => resolve('lost')
    lost.addEventListener('abort', stop)
    // A signal that was aborted already says so to no listener.
    if (lost.aborted) stop()
  })
}
