import type { Logger } from '../telemetry/telemetry.ts'

/** Waits for work that was told to end, but no longer than the grace period. The end of the process cuts off the rest. */
export async function endWithin(
  ending: Promise<void>,
  graceMs: number,
  log: Logger,
): Promise<void> {
  const over = Promise.withResolvers<'over'>()
  const timer = setTimeout(() => over.resolve('over'), graceMs)
  try {
    if ((await Promise.race([ending, over.promise])) === 'over') {
      log.warn({ graceMs }, 'work cut off at the end of the grace period')
    }
  } finally {
    clearTimeout(timer)
  }
}
