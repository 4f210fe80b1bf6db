import type { SyncCommandOptions } from '../../pkg/base/options/options.ts'
import { createLogger, type Logger, type Metrics } from '../../pkg/base/telemetry/telemetry.ts'
import { openFetching } from '../../pkg/fill/fetching/fetching.ts'
import { asJson, asText, plan } from '../../pkg/fill/planning/planning.ts'
import { folderObjects } from '../../pkg/records/store/store.ts'

/**
 * Compares storage and upstream with the records, and writes nothing.
 *
 * @returns 1 if something differs or cannot be compared
 */
export async function checkFolder(
  options: SyncCommandOptions,
  { spoolDir, log, metrics }: { spoolDir: string; log: Logger; metrics: Metrics },
): Promise<number> {
  const { apiGroup, manifests: dir, archives: mountPath, confirmRemovals, verify } = options
  const silent = createLogger('silent')
  const objects = await folderObjects({ dir, apiGroup, watch: false, log: silent })
  const fetching = await openFetching({
    options: { ...options, spoolDir },
    mountPath,
    env: process.env,
    secret: (namespace, name) => objects.secret(namespace, name),
    log,
    metrics,
  })
  try {
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
    process.stdout.write(options.output === 'json' ? asJson(changes) : asText(changes))
    return mistakes.length > 0 || changes.some(({ action }) => action !== 'skip') ? 1 : 0
  } finally {
    await fetching.close()
    await objects.close()
  }
}
