import { join } from 'node:path'
import { depotArguments } from '../program/command.ts'
import { launchProgram, type Server } from '../server/server.ts'

/** The folder of the pages that `make ui` builds. */
const dist = join(import.meta.dirname, '../../../pkg/explorer/dist')

export const sessionPassword = 'a password of more than 32 letters'

export interface ExplorerProcess extends Server {
  /** By which browsers know it: without a slash at the end. */
  readonly baseUrl: string
}

export interface ExplorerFlags {
  readonly serverUrl: string
  /** Its file and its command. Default: the same program as that of the other commands. */
  readonly program?: readonly string[]
  /** Default: a free one. Set it if it must be known before the start. */
  readonly port?: number
  readonly flags?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/** Starts `cmd/ui` as an operator does, and waits until it listens. */
export async function startExplorer(options: ExplorerFlags): Promise<ExplorerProcess> {
  const {
    serverUrl,
    program = depotArguments('ui'),
    port = 0,
    flags = [],
    environment = {},
  } = options
  const started = await launchProgram(
    program,
    [
      '--server-url',
      serverUrl,
      '--listen',
      `127.0.0.1:${port}`,
      '--admin-listen',
      '127.0.0.1:0',
      ...(flags.includes('--dist-path') ? [] : ['--dist-path', dist]),
      ...flags,
    ],
    { DEPOT_SESSION_PASSWORD: sessionPassword, ...environment },
  )
  return { ...started, baseUrl: started.url }
}
