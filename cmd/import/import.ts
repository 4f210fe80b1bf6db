import { mkdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import semver from 'semver'
import { parse } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import { StorageConfig } from '../../pkg/apis/v1alpha1/v1alpha1.ts'
import { parseConstraints } from '../../pkg/constraint/constraint.ts'
import { messageOf } from '../../pkg/errors/errors.ts'
import { type ImportAddress, importAddress, importAll } from '../../pkg/importing/importing.ts'
import { limitHeap } from '../../pkg/memory/memory.ts'
import {
  type ImportCommandOptions,
  importCommand,
  OptionsError,
} from '../../pkg/options/options.ts'
import { runCommand } from '../../pkg/run/run.ts'
import { createLogger, createMetrics } from '../../pkg/telemetry/telemetry.ts'
import { onlyOne, openFetching } from '../sync/sync.ts'
import { createProgress } from './progress.ts'

/** Where an operator names a host, its address may be in any network. */
const privateNetworks = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '::1/128',
  'fc00::/7',
]
const githubHosts = ['github.com', 'api.github.com', 'codeload.github.com']
const secretName = 'import'

/** `depot import`. */
export function importArchives(args: readonly string[]): Promise<void> {
  limitHeap()
  return runCommand({
    command: importCommand,
    args,
    version: packageJson.version,
    main: ({ options, secrets, operands }) => importFrom(options, secrets.token, operands),
  })
}

/**
 * Imports everything that the sources have and that is not there yet.
 *
 * @returns 1 where something failed, 130 after a signal
 * @throws OptionsError naming every mistake
 */
async function importFrom(
  options: ImportCommandOptions,
  token: string | undefined,
  operands: readonly string[],
): Promise<number> {
  const { name, system, versions, dryRun } = options
  const problems: string[] = []
  const attempt = async <T>(flag: string, read: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await read()
    } catch (error) {
      problems.push(`${flag}${messageOf(error)}`)
      return undefined
    }
  }
  const listed = await attempt('--list: ', () => sourcesIn(options.list))
  const texts = [...operands, ...(listed ?? [])]
  const read = await Promise.all(texts.map((text) => attempt('', () => importAddress(text))))
  const addresses = read.filter((address) => address !== undefined)
  const chosen = await attempt('--versions: ', () => chooser(versions))
  const storage = await attempt('--storage-config: ', () => storageIn(options.storageConfig))
  if (texts.length === 0) problems.push('no SOURCE is named, and no --list')
  problems.push(...problemsOfHosts(addresses, token))
  if (problems.length > 0 || chosen === undefined || storage === undefined) {
    throw new OptionsError(problems)
  }

  const { archives: mountPath, manifests } = options
  const stopped = new AbortController()
  const stop = () => stopped.abort(new Error('stopped by a signal'))
  if (!dryRun) {
    await attempt('--archives: ', () => mkdir(mountPath, { recursive: true }))
    await attempt('--manifests: ', () => mkdir(manifests, { recursive: true }))
    if (problems.length > 0) throw new OptionsError(problems)
  }
  await using _ = dryRun ? undefined : await onlyOne(manifests, 'depot import', stop)
  const spoolDir = options.spoolDir ?? join(tmpdir(), 'depot-import')
  const hosts = hostsOf(addresses)
  const fetching = await openFetching({
    options: {
      ...options,
      spoolDir,
      githubSecretName: secretName,
      githubApiUrl: 'https://api.github.com',
      upstreamHosts: hosts.length > 0 ? hosts : ['registry.opentofu.org'],
      sourceHosts: githubHosts,
      egressPrivateCidrs: privateNetworks,
      egressPublicDownloads: true,
    },
    mountPath,
    env: process.env,
    secret: async () => (token === undefined ? undefined : { token: Buffer.from(token) }),
    log: createLogger(options.logLevel),
    metrics: createMetrics({ version: packageJson.version }),
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  const progress = createProgress(process.stdout, addresses.length)
  try {
    const result = await importAll({
      ...options,
      ...fetching,
      addresses,
      store: fetching.archives,
      storage,
      manifestsDir: manifests,
      module: name !== undefined && system !== undefined ? { name, system } : undefined,
      secretName: token === undefined ? undefined : secretName,
      chosen,
      workDir: join(spoolDir, 'work'),
      signal: stopped.signal,
      onEvent: progress.event,
    })
    progress.end(result)
    return result.failed > 0 ? 1 : 0
  } catch (error) {
    if (!stopped.signal.aborted) throw error
    progress.stopped()
    return 130
  } finally {
    await fetching.close()
  }
}

/** Without constraints every version is wanted, prereleases too. @throws ConstraintError */
function chooser(text: string | undefined): (version: string) => boolean {
  const constraints = text === undefined ? undefined : parseConstraints(text)
  return (version) => {
    const parsed = semver.parse(version)
    return parsed !== null && (constraints === undefined || constraints.selects(parsed))
  }
}

async function sourcesIn(file: string | undefined): Promise<string[]> {
  if (file === undefined) return []
  const lines = (await readFile(file, 'utf8')).split('\n')
  return lines.map((line) => line.replace(/#.*$/, '').trim()).filter((line) => line !== '')
}

async function storageIn(file: string | undefined): Promise<StorageConfig> {
  if (file === undefined) return { fileSystem: { directoryPath: 'archives' } }
  const found = StorageConfig.safeParse(parse(await readFile(file, 'utf8')))
  if (found.success) return found.data
  throw new Error(
    found.error.issues.map(({ path, message }) => [...path, message].join(' ')).join('; '),
  )
}

const hostsOf = (addresses: readonly ImportAddress[]): string[] => [
  ...new Set(addresses.flatMap((address) => (address.from === 'folder' ? [] : [address.host]))),
]

/** A token belongs to one host; which one must not be guessed. */
function problemsOfHosts(addresses: readonly ImportAddress[], token: string | undefined): string[] {
  const hosts = hostsOf(addresses)
  if (token === undefined || hosts.length <= 1) return []
  return [
    `DEPOT_IMPORT_TOKEN is for one host, and these are named: ${hosts.slice(0, 5).join(', ')}. Import from one after the other`,
  ]
}
