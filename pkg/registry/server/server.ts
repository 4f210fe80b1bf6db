/** The registry's public port, with its protocols, the browse API, callers and logins. */

import { type RunningServer, type ServeOptions, serve } from '../../base/serving/serving.ts'
import { type AppOptions, belowBasePath, createApp, gate } from './app.ts'

export { createApp } from './app.ts'

export type ServerOptions = AppOptions & Omit<ServeOptions, 'fetch'>

/** Opens the ports. @throws Error with a `code` such as EADDRINUSE if a port is not available. */
export function startServer(options: ServerOptions): Promise<RunningServer> {
  const app = createApp(options)
  const answers = gate({ fetch: app.routes.fetch, hot: app.hot }, options.waitingFor)
  return serve({ ...options, ...answers, fetch: belowBasePath(answers.fetch, options.baseUrl) })
}
