import { messageOf } from '../errors/errors.ts'
import { OptionsError } from '../options/options.ts'
import { type Opened, opened } from './opened.ts'

/** Open ports: the admin port and, unless a process has no clients, a public one. */
interface OpenPorts {
  readonly url?: string
  readonly adminUrl: string
  readonly stop: (graceMs: number) => void | Promise<void>
}

/** The addresses from the options. */
type Ports = Readonly<{ listen?: { port: number } | undefined; adminListen: { port: number } }>

interface HttpPartOptions<P extends OpenPorts> extends Ports {
  readonly open: () => Promise<P>
  /** Called once the ports are open. */
  readonly onListening: (ports: Omit<P, 'stop'>) => void
}

/** A part of a process that opens its ports. If a port cannot be opened, the error names the flag to correct. */
export function httpPart<P extends OpenPorts>({
  open,
  onListening,
  ...ports
}: HttpPartOptions<P>): Opened<P> {
  const start = async () => {
    const running = await open().catch((error: unknown) => {
      throw new OptionsError([portProblem(ports, error)])
    })
    const { stop: _, ...urls } = running
    onListening(urls)
    return running
  }
  return opened('http', start, (running, graceMs) => running.stop(graceMs))
}

function portProblem({ listen, adminListen }: Ports, error: unknown): string {
  const { code, port, address } = error as NodeJS.ErrnoException & {
    port?: number
    address?: string
  }
  if (code === undefined || port === undefined) return messageOf(error)
  const flag = port === adminListen.port && port !== listen?.port ? '--admin-listen' : '--listen'
  const reason =
    code === 'EADDRINUSE'
      ? 'the port is in use; stop what uses it or choose another'
      : messageOf(error)
  return `${flag}: cannot listen on ${address}:${port}: ${reason}`
}
