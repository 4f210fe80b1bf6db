/**
 * Resolves at the first signal that ends a process, or when another process locks the folder.
 *
 * @param lost may be aborted already
 */
export function untilEnd(lost: AbortSignal): Promise<'SIGINT' | 'SIGTERM' | 'lost'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => resolve(signal))
    }
    const stop = () => resolve('lost')
    lost.addEventListener('abort', stop)
    // An AbortSignal that was aborted already calls no listener.
    if (lost.aborted) stop()
  })
}
