import { statSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { plainText } from '../../pkg/archives/docs/docs.ts'
import {
  type ArchiveStore,
  openArchiveStore,
  storageOfEnvironment,
} from '../../pkg/archives/storage/storage.ts'
import { codeOf, mayPass, ReasonError, RegistryError } from '../../pkg/base/errors/errors.ts'
import { proxyRules } from '../../pkg/base/http/http.ts'
import {
  mistakeIn,
  OptionsError,
  type PublishCommandOptions,
} from '../../pkg/base/options/options.ts'
import { madeFolderProblem, stopOnSignals } from '../../pkg/base/run/run.ts'
import { explained } from '../../pkg/fill/egress/egress.ts'
import { limitsOf } from '../../pkg/fill/fetching/fetching.ts'
import {
  addressText,
  type Publication,
  type PublishContext,
  parseModuleAddress,
  parseProviderAddress,
  planProvider,
  planPublication,
  publishedVersion,
  publish as publishIt,
  publishProvider,
} from '../../pkg/fill/publishing/publishing.ts'
import { storageIn } from '../import/import.ts'
import { ClusterUnread, openRecords } from '../records/records.ts'
import { folderLock } from './folder-lock.ts'
import { headVersion } from './head-version.ts'
import { publishOverHttp } from './over-http.ts'
import { publishReleaseOverHttp } from './release-over-http.ts'
import {
  asJson,
  asText,
  brokenWarning,
  finish,
  type PublishEnd,
  providerJson,
  providerText,
} from './report.ts'

const statuses = { refused: 1, unreachable: 3 } as const

/**
 * Publishes a version with the credentials of the caller.
 *
 * @returns the exit status
 * @throws OptionsError naming every mistake of the command line
 */
export async function publish(
  options: PublishCommandOptions,
  operands: readonly string[],
): Promise<number> {
  const stopped = new AbortController()
  using signals = stopOnSignals(stopped)
  try {
    return await (options.direct ? direct : sendTo)(options, operands, stopped)
  } catch (error) {
    const status = signals.status()
    if (status === undefined) return statusOf(error)
    process.stderr.write('depot: stopped; run the same command again to go on\n')
    return status
  }
}

async function direct(
  options: PublishCommandOptions,
  operands: readonly string[],
  stopped: AbortController,
): Promise<number> {
  const asked = await readInputs(options, operands)
  const { namespace } = asked.address
  await using work = await mkdtempDisposable(join(tmpdir(), 'depot-publish-'))
  const { manifests, dryRun } = options
  await using _ =
    manifests === undefined || dryRun ? undefined : await folderLock(manifests, stopped)
  await using records = await openRecords(options, [namespace])
  const { objects, clock } = records
  const { archives, isModule } = asked
  const limits = limitsOf(options)[isModule ? 'module' : 'provider']
  const { signal } = stopped
  const context = { objects, archives, workDir: work.path, limits, clock, signal }
  return await (isModule ? publishModule : publishRelease)(options, context, asked)
}

/** @throws OptionsError */
async function sendTo(
  options: PublishCommandOptions,
  operands: readonly string[],
  { signal }: AbortController,
): Promise<number> {
  const { to = '', allowFile: allowed = [], tagPrefix } = options
  const [what, file] = operands
  const [, host = '', path = ''] = /^([^/]+)\/(.*)$/.exec(to) ?? []
  const isModule = what === 'module'
  const address = (isModule ? parseModuleAddress : parseProviderAddress)(path)
  const problems = operandProblems(options, operands)
  if (address === undefined) {
    const expected = isModule
      ? 'a module in a registry: write HOST/NAMESPACE/NAME/SYSTEM'
      : 'a provider in a registry: write HOST/NAMESPACE/TYPE'
    problems.push(
      `--to: ${JSON.stringify(to)} is not the address of ${expected}, or add --direct to write to storage and records yourself`,
    )
  }
  if (problems.length > 0 || address === undefined || file === undefined) {
    throw new OptionsError(problems)
  }
  const limits = limitsOf(options)[isModule ? 'module' : 'provider']
  const sent = { file, host, address, limits, signal }
  if (!isModule) return publishReleaseOverHttp(options, sent)
  const spelled = options.version ?? (await headVersion(file, tagPrefix))
  return publishOverHttp(options, { ...sent, version: publishedVersion(spelled), allowed })
}

/** @throws mistakes of the command line, and errors of the program */
function statusOf(error: unknown): number {
  const isUnread = error instanceof ClusterUnread && error.mayPass
  const isOfFiles = codeOf(error) !== ''
  const isExplained = error instanceof ReasonError && error.reason !== 'NotConfigured'
  if (!isUnread && !isOfFiles && !isExplained) throw error
  process.stderr.write(plainText(`depot: ${explained(error)}\n`))
  const isLater = isUnread || (error instanceof ReasonError && mayPass(error.reason))
  if (!isLater) return statuses.refused
  process.stderr.write('depot: nothing is published in part; run the same command again\n')
  return statuses.unreachable
}

type Inputs = Awaited<ReturnType<typeof readInputs>>

async function publishModule(
  options: PublishCommandOptions,
  context: PublishContext,
  asked: Inputs,
): Promise<number> {
  const version = options.version ?? (await headVersion(asked.file, options.tagPrefix))
  return planPublication(context, { ...asked, version }, async (publication) => {
    const { target, isBroken } = publication
    if (isBroken) process.stderr.write(brokenWarning(publication))
    return finish(options, {
      shown: asText(publication),
      json: (outcome) => asJson(publication, outcome),
      refusals: publication.refusals,
      planned: plannedText(publication.isThere && !target.isMissing),
      run: async () => endOf(options, target, await publishIt(context, publication)),
    })
  })
}

async function publishRelease(
  options: PublishCommandOptions,
  context: PublishContext,
  { file: folder, address, storage }: Inputs,
): Promise<number> {
  const { version } = options
  const publication = await planProvider(context, { folder, address, version, storage })
  const { target, archives, refusals } = publication
  return finish(options, {
    shown: providerText(publication),
    json: (outcome) => providerJson(publication, outcome),
    refusals,
    planned: plannedText(!target.isMissing && archives.every(({ isThere }) => isThere)),
    run: async () => endOf(options, target, await publishProvider(context, publication)),
  })
}

const plannedText = (isThere: boolean): string =>
  isThere ? 'it is published already' : 'it would be published'

function endOf(
  { manifests = 'the cluster' }: PublishCommandOptions,
  { address, version }: Publication['target'],
  outcome: 'published' | 'exists',
): PublishEnd {
  const text =
    outcome === 'exists'
      ? `${addressText(address)} ${version} was published already`
      : `published: servers of ${manifests} serve it as soon as they have read it`
  return { outcome, text }
}

/** @throws OptionsError if it is neither a module nor a provider */
function operandProblems(
  { allowFile, tagPrefix }: PublishCommandOptions,
  [what, file, ...others]: readonly string[],
): string[] {
  const isModule = what === 'module'
  if ((!isModule && what !== 'provider') || file === undefined) {
    throw new OptionsError([
      'write what to publish: depot publish module FOLDER|ARCHIVE, or depot publish provider FOLDER',
    ])
  }
  const problems: string[] = []
  if (others.length > 0) {
    problems.push(
      `${others.join(' ')} is too much: name one folder, in quotes if it has blanks, and the version with --version`,
    )
  } else {
    const found = statSync(file, { throwIfNoEntry: false })
    const wanted = isModule ? 'a folder or an archive' : 'the folder with the zips of the release'
    if (found === undefined) problems.push(`${file} does not exist: name ${wanted}`)
    else if (!isModule && !found.isDirectory()) {
      problems.push(`${file} is not a folder: name ${wanted}`)
    }
  }
  const ofModules = { '--allow-file': allowFile, '--tag-prefix': tagPrefix }
  for (const [flag, value] of isModule ? [] : Object.entries(ofModules)) {
    if (value !== undefined) problems.push(`${flag} is for modules only: leave it out`)
  }
  return problems
}

/** @throws OptionsError naming every mistake */
async function readInputs(options: PublishCommandOptions, operands: readonly string[]) {
  const { to = '', manifests, storageConfig, allowFile = [], dryRun } = options
  const [what, file] = operands
  const isModule = what === 'module'
  const problems = operandProblems(options, operands)
  const address = (isModule ? parseModuleAddress : parseProviderAddress)(to)
  if (address === undefined) {
    problems.push(
      `--to: ${JSON.stringify(to)} is not the address of a ${isModule ? 'module: write NAMESPACE/NAME/SYSTEM, such as network/vpc/aws' : 'provider: write NAMESPACE/TYPE, such as platform/cmdb'}`,
    )
  }
  const env = storageOfEnvironment(process.env)
  const proxies = proxyRules(process.env)
  problems.push(...env.problems, ...proxies.problems)
  const isFolder = manifests !== undefined
  const archivesDir = options.archives ?? (isFolder ? './archives' : undefined)
  if (isFolder && !dryRun && problems.length === 0) {
    problems.push(
      ...[
        madeFolderProblem('--manifests', manifests),
        madeFolderProblem('--archives', archivesDir ?? ''),
      ].filter((problem) => problem !== undefined),
    )
  }
  if (problems.length > 0 || address === undefined || file === undefined) {
    throw new OptionsError(problems)
  }
  const storage =
    isFolder || storageConfig !== undefined
      ? await storageIn(storageConfig).catch(mistakeIn('--storage-config'))
      : undefined
  return {
    file,
    isModule,
    address,
    storage,
    allowed: allowFile,
    archives: archivesIn(archivesDir, { proxies, ...env.settings }),
  }
}

/** The folder in which a server finds archives cannot be guessed. */
function archivesIn(
  folder: string | undefined,
  settings: Omit<Parameters<typeof openArchiveStore>[0], 'filesystemMountPath'>,
): ArchiveStore {
  const store = openArchiveStore({ filesystemMountPath: folder ?? '', ...settings })
  return {
    for(storage, configName) {
      if (folder !== undefined || storage.fileSystem === undefined) {
        return store.for(storage, configName)
      }
      throw new RegistryError(
        'NotConfigured',
        `the module stores its archives in ${storage.fileSystem.directoryPath}, a directory of the server: mount the root of its archives, and name it with --archives`,
      )
    },
  }
}
