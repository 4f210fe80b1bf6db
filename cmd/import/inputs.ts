import semver from 'semver'
import { parse } from 'yaml'
import { parseConstraints } from '../../pkg/api/constraint/constraint.ts'
import { StorageConfig } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import {
  type ImportCommandOptions,
  OptionsError,
  requireNone,
} from '../../pkg/base/options/options.ts'
import { madeFolderProblem, readTextFile } from '../../pkg/base/run/run.ts'
import { type ImportAddress, importAddress } from '../../pkg/fill/importing/importing.ts'

/** A command line with the content of the files that it names. */
interface Inputs {
  readonly addresses: readonly ImportAddress[]
  readonly hosts: string[]
  readonly storage: StorageConfig
  /** Decides whether a version is imported. */
  readonly chosen: (version: string) => boolean
}

/** @throws OptionsError naming every mistake of the command line and of the files that it names */
export async function readInputs(
  options: ImportCommandOptions,
  token: string | undefined,
  operands: readonly string[],
): Promise<Inputs> {
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
  const texts = [...new Set([...operands, ...(listed ?? [])])]
  const read = await Promise.all(texts.map((text) => attempt('', () => importAddress(text))))
  const addresses = read.filter((address) => address !== undefined)
  const chosen = await attempt('--versions: ', () => chooser(options.versions))
  const storage = await attempt('--storage-config: ', () => storageIn(options.storageConfig))
  if (operands.length === 0 && options.list === undefined) {
    problems.push('name a SOURCE, or a file with --list')
  }
  const hosts = hostsOf(addresses)
  problems.push(...problemsOfHosts(hosts, token), ...problemsOfGit(addresses, options))
  if (problems.length === 0 && !options.dryRun) {
    const { archives, manifests } = options
    requireNone(
      madeFolderProblem('--archives', archives),
      madeFolderProblem('--manifests', manifests),
    )
  }
  if (problems.length > 0 || chosen === undefined || storage === undefined) {
    throw new OptionsError(problems)
  }
  return { addresses, hosts, storage, chosen }
}

/** Without constraints every version is imported, including prereleases. @throws ConstraintError */
function chooser(text: string | undefined): (version: string) => boolean {
  const constraints = text === undefined ? undefined : parseConstraints(text)
  return (version) => {
    const parsed = semver.parse(version)
    return parsed !== null && (constraints === undefined || constraints.selects(parsed))
  }
}

async function sourcesIn(file: string | undefined): Promise<string[]> {
  if (file === undefined) return []
  const lines = (await readTextFile(file))
    .split('\n')
    .map((line) => line.replace(/#.*$/, '').trim())
    .filter((line) => line !== '')
  if (lines.length === 0) throw new Error(`${file} names no source; write one on each line`)
  return lines
}

/** Reads `--storage-config`; the default is a folder of archives. @throws Error */
export async function storageIn(file: string | undefined): Promise<StorageConfig> {
  if (file === undefined) return { fileSystem: { directoryPath: 'archives' } }
  const example = 'write, for example, s3: {bucket: archives, region: eu-west-1}'
  const content: unknown = await readYaml(file, example)
  const found = StorageConfig.safeParse(content ?? {})
  if (found.success) return found.data
  const issues = found.error.issues.map(
    ({ path, message }) => `${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`,
  )
  throw new Error(`${file}: ${issues.join('; ')}; ${example}`)
}

async function readYaml(file: string, example: string): Promise<unknown> {
  const text = await readTextFile(file)
  try {
    return parse(text)
  } catch (error) {
    const [line] = messageOf(error).split('\n')
    throw new Error(`${file} is not valid YAML: ${line?.replace(/:$/, '')}; ${example}`, {
      cause: error,
    })
  }
}

const hostsOf = (addresses: readonly ImportAddress[]): string[] => [
  ...new Set(addresses.flatMap((address) => (address.from === 'folder' ? [] : [address.host]))),
]

/** A token belongs to one host. Depot must not guess which. */
function problemsOfHosts(hosts: readonly string[], token: string | undefined): string[] {
  if (token === undefined || hosts.length <= 1) return []
  return [
    `DEPOT_IMPORT_TOKEN is for one host, and the sources are on several: ${hosts.slice(0, 5).join(', ')}. Import from one after the other`,
  ]
}

/** The tags of a repository do not contain the module's name, and --name is for one module. */
function problemsOfGit(
  addresses: readonly ImportAddress[],
  { namespace, name, tagPrefix }: ImportCommandOptions,
): string[] {
  const repositories = addresses.filter(({ from }) => from === 'git').length
  if (repositories > 1) {
    return [
      `${repositories} repositories are named, and --name is for one module. Import one after the other`,
    ]
  }
  if (repositories === 1 && (namespace === undefined || name === undefined)) {
    return ['a repository does not name its module: set --namespace, --name and --system']
  }
  if (repositories === 0 && addresses.length > 0 && (name ?? tagPrefix) !== undefined) {
    const flags = name === undefined ? '--tag-prefix is' : '--name and --system are'
    return [`${flags} for the tags of a repository (git::https://…), and none is named`]
  }
  return []
}
