import { constants } from 'node:os'
import { messageOf } from '../../pkg/errors/errors.ts'
import { createExplorer } from '../../pkg/explorer/explorer.ts'
import { OptionsError } from '../../pkg/options/options.ts'
import { serve } from '../../pkg/serving/serving.ts'
import { createLogger, createMetrics, type Logger } from '../../pkg/telemetry/telemetry.ts'
import { type Given, settingsOf } from './settings.ts'

export interface RunOptions extends Given {
  readonly version: string
}

/**
 * Runs the explorer until SIGTERM or SIGINT.
 *
 * @throws OptionsError naming everything that keeps it from starting
 */
export async function run({ options, secrets, version }: RunOptions): Promise<void> {
  const log = createLogger(options.logLevel)
  const metrics = createMetrics({ version })
  const settings = settingsOf({ options, secrets })
  const explorer = (() => {
    try {
      return createExplorer({ ...settings, version, log, metrics })
    } catch (error) {
      throw new OptionsError([`--dist-path: ${messageOf(error)}`])
    }
  })()
  const server = await serve({
    fetch: explorer.app.fetch,
    listen: options.listen,
    adminListen: options.adminListen,
    log,
    metrics,
    shutdownDelayMs: options.shutdownDelayMs,
    waitingFor: () => [],
  }).catch((error: unknown) => {
    throw new OptionsError([`--listen or --admin-listen: ${messageOf(error)}`])
  })
  if (options.devTokenInput) {
    log.warn(
      'any bearer token can be pasted into the pages: --dev-token-input is not for production',
    )
  }
  const { url, adminUrl } = server
  log.info({ url, adminUrl, serverUrl: options.serverUrl, version }, 'listening')
  await untilSignal(log)
  await server.stop(options.shutdownGracePeriodMs)
  await explorer.close()
  log.info('stopped')
}

/** The first signal ends the explorer in peace, a second one at once. */
function untilSignal(log: Logger): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        log.info({ signal }, 'stopping')
        process.once(signal, () => process.exit(128 + constants.signals[signal]))
        resolve()
      })
    }
  })
}
