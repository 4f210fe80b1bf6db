import type { Context } from '../context.ts'
import { sweep } from './sweep.ts'

/** Sweeps now and then. @returns what stops it */
export function sweepDaily(context: Context, isDeleting: boolean): () => Promise<void> {
  const stop = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    running = running.then(() => sweep(context, { isDeleting, signal: stop.signal }))
  }, context.timings.sweepMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    stop.abort()
    await running
  }
}
