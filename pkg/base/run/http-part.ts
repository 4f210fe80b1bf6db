import { messageOf } from '../errors/errors.ts'
import { OptionsError } from '../options/options.ts'
import type { Runnable } from './runnable.ts'

/** An open public port and an open admin port. */
interface OpenPorts {
  readonly url: string
  readonly adminUrl: string
  stop(graceMs: number): Promise<void>
}

interface Port {
  readonly port: number
}

export interface HttpPartOptions<P extends OpenPorts> {
  /** The address from the options. */
  readonly listen: Port
  readonly adminListen: Port
  readonly open: () => Promise<P>
  /** Called once both ports are open. */
  readonly onListening: (ports: Pick<P, 'url' | 'adminUrl'>) => void
}

/** A part of a process that opens its ports. If a port cannot be opened, the error names the flag to correct. */
export function httpPart<P extends OpenPorts>(options: HttpPartOptions<P>): Runnable {
  let ports: P | undefined
  return {
    name: 'http',
    async start() {
      ports = await options.open().catch((error: unknown) => {
        throw new OptionsError([portProblem(options, error)])
      })
      options.onListening({ url: ports.url, adminUrl: ports.adminUrl })
    },
    async stop(graceMs) {
      await ports?.stop(graceMs)
    },
  }
}

type Ports = Readonly<Record<'listen' | 'adminListen', Port>>

function portProblem({ listen, adminListen }: Ports, error: unknown): string {
  const { code, port, address } = error as NodeJS.ErrnoException & {
    port?: number
    address?: string
  }
  if (code === undefined || port === undefined) return messageOf(error)
  const flag = port === adminListen.port && port !== listen.port ? '--admin-listen' : '--listen'
  const reason =
    code === 'EADDRINUSE'
      ? 'the port is in use; stop what uses it or choose another'
      : messageOf(error)
  return `${flag}: cannot listen on ${address}:${port}: ${reason}`
}
