import { controllerCommand } from './controller.ts'
import { outputOption } from './printing.ts'
import { serverCommand } from './server.ts'
import { syncCommand } from './sync.ts'
import { type Command, flagged, type Options, type OptionTable } from './table.ts'
import { baseUrl } from './urls.ts'
import { path } from './values.ts'

const options = flagged({
  serverUrl: {
    value: baseUrl,
    otherwise: 'no running server is asked',
    meaning: 'Address of a running server. Its discovery document must name the registry.',
  },
  serverCaPath: {
    value: path,
    otherwise: 'the authorities of the system',
    meaning: 'PEM file with the authority of the certificate of `--server-url`.',
  },
  adminUrl: {
    value: baseUrl,
    otherwise: 'no running server is asked',
    meaning: 'Admin address of a running server or controller, which must be ready.',
  },
  uiUrl: {
    value: baseUrl,
    otherwise: 'no running explorer is asked',
    meaning: 'Address of a running explorer, which must serve its pages and reach the server.',
  },
  uiBaseUrl: {
    value: baseUrl,
    otherwise: 'not checked',
    meaning: 'Address of the explorer for browsers.',
  },
  output: outputOption,
})

/** Checks what a server, a controller or `depot sync` needs. */
export const doctorCommand = {
  program: 'depot doctor',
  operands: '[server|controller|sync]',
  operandsOptional: true,
  summary:
    'Checks what a server, a controller or `depot sync` needs: certificate, storage, issuer, clock, permissions, keys. It accepts the flags and variables of these programs. In a pod, it uses those of the running process. Exit status: 1 if a check failed.',
  examples: [
    'depot doctor server -o json',
    'depot doctor sync',
    'kubectl exec deployment/depot-server -- depot doctor',
  ],
  options,
} satisfies Command<typeof options>

export type DoctorCommandOptions = Options<typeof options>

/** For each command that can be checked: its table, with the options of the doctor. */
export const doctorTables = {
  server: { ...serverCommand, ...named('server', serverCommand.options) },
  controller: { ...controllerCommand, ...named('controller', controllerCommand.options) },
  sync: { ...syncCommand, ...named('sync', syncCommand.options) },
}

function named<T extends OptionTable>(name: string, own: T) {
  const { summary } = doctorCommand
  return { program: `depot doctor ${name}`, summary, options: { ...own, ...options } }
}
