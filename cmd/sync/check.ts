import type { SyncCommandOptions } from '../../pkg/base/options/options.ts'
import { stdout } from '../../pkg/base/run/run.ts'
import type { Logger, Metrics } from '../../pkg/base/telemetry/telemetry.ts'
import type { Fetching } from '../../pkg/fill/fetching/fetching.ts'
import { asJson, asText, plan } from '../../pkg/fill/planning/planning.ts'
import type { FolderObjects } from '../../pkg/records/store/store.ts'

/** A folder, with what is needed to fetch its archives. */
export interface OpenFolder {
  readonly objects: FolderObjects
  readonly fetching: Fetching
  readonly log: Logger
  readonly metrics: Metrics
}

/**
 * Compares storage and upstream with the records, and writes nothing.
 *
 * @returns 1 if something differs or cannot be compared
 */
export async function checkFolder(
  { apiGroup, confirmRemovals, verify, output }: SyncCommandOptions,
  { objects, fetching, log, metrics }: OpenFolder,
): Promise<number> {
  const changes = await plan({
    objects,
    orphans: objects.orphans(),
    ...fetching,
    apiGroup,
    confirmRemovals,
    verifyAtStart: verify ? 'read' : 'look',
    log,
    metrics,
  })
  const mistakes = objects.mistakes()
  for (const mistake of mistakes) process.stderr.write(`depot: ${mistake}\n`)
  stdout.write(output === 'json' ? asJson(changes) : asText(changes))
  return mistakes.length > 0 || changes.some(({ action }) => action !== 'skip') ? 1 : 0
}
