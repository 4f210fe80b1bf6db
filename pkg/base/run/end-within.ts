import { endsWithin } from '../pacing/pacing.ts'
import type { Logger } from '../telemetry/telemetry.ts'

/** Waits for work that was told to end, up to the grace period. The exit of the process ends the rest. */
export async function endWithin(
  ending: Promise<void>,
  graceMs: number,
  log: Logger,
): Promise<void> {
  if (await endsWithin(ending, graceMs)) return
  log.warn({ graceMs }, 'work cut off at the end of the grace period')
}
