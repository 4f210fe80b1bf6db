import { readFileSync } from 'node:fs'
import { type ProxyRules, proxyRules } from '../../pkg/base/http/http.ts'
import {
  type ControllerCommandOptions,
  type DoctorCommandOptions,
  doctorCommand,
  doctorTables,
  OptionsError,
  type ServerCommandOptions,
  type SyncCommandOptions,
} from '../../pkg/base/options/options.ts'
import { runCommand, stdout } from '../../pkg/base/run/run.ts'
import { createApi, loadConnection } from '../../pkg/records/kube/kube.ts'
import { callerChecks, publishIssuerChecks } from './callers.ts'
import { certificateChecks } from './certificate.ts'
import { type Examination, type Found, results, textOf } from './check.ts'
import { clusterChecks, gitCheck, keyCheck, spoolCheck, valkeyChecks } from './parts.ts'
import { runningChecks } from './reach.ts'
import { controllerRights, type Right, rightsCheck, serverRights } from './rights.ts'
import { storageFindings } from './storage.ts'

type Subject = keyof typeof doctorTables
const isSubject = (word: string | undefined): word is Subject =>
  word !== undefined && Object.hasOwn(doctorTables, word)

/** `depot doctor`. */
export function doctor(args: readonly string[]): Promise<void> {
  const [subject, ...flags] = isSubject(args[0]) ? args : [...ofPod(args), ...args]
  const proxies = proxyRules(process.env)
  if (subject === 'server') {
    return runCommand({
      command: doctorTables.server,
      args: flags,
      main: async ({ options, secrets }) =>
        print(options, await examineServer(options, secrets, proxies)),
    })
  }
  if (subject === 'controller') {
    return runCommand({
      command: doctorTables.controller,
      args: flags,
      main: async ({ options }) => print(options, await examineController(options, proxies)),
    })
  }
  if (subject === 'sync') {
    return runCommand({
      command: doctorTables.sync,
      args: flags,
      main: async ({ options }) => print(options, await examineFolder(options, proxies)),
    })
  }
  return runCommand({
    command: doctorCommand,
    args,
    main: () => {
      throw new OptionsError(['write what to check: depot doctor server, controller or sync'])
    },
  })
}

/** The command line of the main process of the container. */
function ofPod(args: readonly string[]): readonly string[] {
  if (args.some((arg) => ['--help', '-h', '--version', '-v'].includes(arg))) return []
  try {
    const words = readFileSync('/proc/1/cmdline', 'utf8').split('\0').slice(0, -1)
    const at = words.findIndex(isSubject)
    const port = /--admin-listen=\S*:(\d+)/.exec(words.join(' '))?.[1]
    const admin = port === undefined ? [] : [`--admin-url=http://127.0.0.1:${port}`]
    return at === -1 ? [] : [...words.slice(at), ...admin]
  } catch {
    return []
  }
}

type Examined = Promise<Found[]>

async function examineServer(
  options: ServerCommandOptions & DoctorCommandOptions,
  secrets: Readonly<Record<'gpgPassphrase' | 'valkeyPassword', string | undefined>>,
  proxies: ProxyRules,
): Examined {
  const { watchNamespace, gpgPrivateKeyPath } = options
  const namespaces = watchNamespace === undefined ? undefined : [watchNamespace]
  const checks = [
    ...certificateChecks(options),
    ...runningChecks(options, proxies),
    ...callerChecks(options, proxies),
    ...(await publishIssuerChecks(options, proxies)),
    keyCheck(gpgPrivateKeyPath, secrets.gpgPassphrase),
    ...valkeyChecks(options.statsValkeyAddr, secrets.valkeyPassword),
  ]
  const storage = { records: options, namespaces, proxies, writes: false }
  const found = [results(checks), storageFindings(storage)]
  if (options.manifests === undefined) {
    found.push(examineCluster(options, serverRights({ ...options, namespaces })))
  }
  return (await Promise.all(found)).flat()
}

async function examineController(
  options: ControllerCommandOptions & DoctorCommandOptions,
  proxies: ProxyRules,
): Examined {
  const namespaces = options.watchNamespaces
  const records = { ...options, manifests: undefined }
  const checks = [
    ...runningChecks(options, proxies),
    ...(await publishIssuerChecks(options, proxies)),
    spoolCheck(options.spoolDir),
    gitCheck(),
  ]
  const found = await Promise.all([
    results(checks),
    storageFindings({ records, namespaces, proxies, writes: true }),
    examineCluster(options, controllerRights({ ...options, namespaces })),
  ])
  return found.flat()
}

async function examineFolder(
  options: SyncCommandOptions & DoctorCommandOptions,
  proxies: ProxyRules,
): Examined {
  const records = { ...options, kubeconfig: undefined, namespace: '' }
  const found = await Promise.all([
    results([...runningChecks(options, proxies), gitCheck()]),
    storageFindings({ records, proxies, writes: true }),
  ])
  return found.flat()
}

async function examineCluster(
  { kubeconfig, apiGroup }: Pick<ServerCommandOptions, 'kubeconfig' | 'apiGroup'>,
  rights: readonly Right[],
): Examined {
  const connection = loadConnection({ kubeconfig, env: process.env })
  const api = createApi(connection)
  try {
    const checks: Examination[] = clusterChecks(connection, api, apiGroup)
    return await results([...checks, rightsCheck(api, rights)])
  } finally {
    await api.close()
  }
}

/** Prints the results. @returns 1 if a check failed */
function print({ output }: DoctorCommandOptions, found: readonly Found[]): number {
  const status = (['failed', 'warning'] as const).find((one) =>
    found.some((finding) => finding.status === one),
  )
  const report = { status: status ?? 'ok', checks: found }
  stdout.write(output === 'json' ? `${JSON.stringify(report, null, 2)}\n` : textOf(found))
  return status === 'failed' ? 1 : 0
}
