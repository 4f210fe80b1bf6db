import { messageOf } from '../../pkg/base/errors/errors.ts'
import { keepYoungGeneration } from '../../pkg/base/fast/fast.ts'
import { OptionsError } from '../../pkg/base/options/options.ts'
import { httpPart, run } from '../../pkg/base/run/run.ts'
import { serve } from '../../pkg/base/serving/serving.ts'
import {
  createLogger,
  createMetrics,
  logOutput,
  programVersion,
} from '../../pkg/base/telemetry/telemetry.ts'
import { createExplorer } from '../../pkg/explorer/explorer.ts'
import { watchServerCa } from './server-ca.ts'
import { type Given, settingsOf } from './settings.ts'

/**
 * Runs the explorer until SIGTERM or SIGINT.
 *
 * @throws OptionsError naming everything that prevents the start
 */
export async function ui(
  options: Given['options'],
  _: readonly string[],
  secrets: Given['secrets'],
): Promise<undefined> {
  keepYoungGeneration()
  const log = createLogger(options.logLevel, logOutput(options.logFormat))
  const metrics = createMetrics()
  const settings = settingsOf({ options, secrets })
  const { serverCaPath } = options
  const serverCa = serverCaPath === undefined ? undefined : watchServerCa(serverCaPath, log)
  const explorer = (() => {
    try {
      return createExplorer({ ...settings, serverCa, version: programVersion, log, metrics })
    } catch (error) {
      throw new OptionsError([`--dist-path: ${messageOf(error)}`])
    }
  })()
  const { listen, adminListen } = options
  const http = httpPart({
    listen,
    adminListen,
    open: () =>
      serve({
        fetch: explorer.app.fetch,
        listen,
        adminListen,
        log,
        metrics,
        shutdownDelayMs: options.shutdownDelayMs,
        waitingFor: () => [],
      }),
    onListening: (ports) => {
      if (options.devTokenInput) {
        log.warn('the pages accept any bearer token: --dev-token-input is not for production')
      }
      log.info({ ...ports, serverUrl: options.serverUrl, version: programVersion }, 'listening')
    },
  })
  const upstream = { name: 'upstream', stop: () => explorer.close() }
  await run({ groups: [[upstream], [http]], log, graceMs: options.shutdownGracePeriodMs })
  return undefined
}
