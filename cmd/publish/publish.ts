import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { normalizeVersion } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import {
  type ArchiveStore,
  openArchiveStore,
  storageOfEnvironment,
} from '../../pkg/archives/storage/storage.ts'
import {
  codeOf,
  mayPass,
  messageOf,
  ReasonError,
  RegistryError,
} from '../../pkg/base/errors/errors.ts'
import { proxyRules } from '../../pkg/base/http/http.ts'
import { OptionsError, type PublishCommandOptions } from '../../pkg/base/options/options.ts'
import { madeFolderProblem } from '../../pkg/base/run/run.ts'
import { createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { limitsOf } from '../../pkg/fill/fetching/fetching.ts'
import {
  type Publication,
  type PublishContext,
  parseModuleAddress,
  parseProviderAddress,
  planProvider,
  planPublication,
  publish as publishIt,
  publishProvider,
} from '../../pkg/fill/publishing/publishing.ts'
import { storageIn } from '../import/import.ts'
import { ClusterUnread, openRecords } from '../records/records.ts'
import { folderLock } from './folder-lock.ts'
import { headVersion } from './head-version.ts'
import { publishOverHttp } from './over-http.ts'
import { asJson, asText, type PublishOutcome, providerJson, providerText } from './report.ts'

const statuses = { published: 0, refused: 1, unreachable: 3 } as const

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
  if (!options.direct) return sendTo(options, operands).catch(statusOf)
  const asked = await readInputs(options, operands)
  const { namespace } = asked.address
  const stopped = new AbortController()
  const workDir = await mkdtemp(join(tmpdir(), 'depot-publish-'))
  try {
    const { manifests, dryRun } = options
    await using _ =
      manifests === undefined || dryRun ? undefined : await folderLock(manifests, stopped)
    const metrics = createMetrics({ version: packageJson.version })
    await using records = await openRecords(options, [namespace], metrics)
    const { objects } = records
    const { archives, isModule } = asked
    const limits = limitsOf(options)[isModule ? 'module' : 'provider']
    const context = { objects, archives, workDir, limits, signal: stopped.signal }
    return await (isModule ? publishModule : publishRelease)(options, context, asked)
  } catch (error) {
    return statusOf(error)
  } finally {
    await rm(workDir, { recursive: true, force: true })
  }
}

/** @throws OptionsError */
async function sendTo(
  options: PublishCommandOptions,
  operands: readonly string[],
): Promise<number> {
  const { to = '', allowFile: allowed = [], tagPrefix } = options
  const [what, file, ...others] = operands
  const [, host = '', path = ''] = /^([^/]+)\/(.*)$/.exec(to) ?? []
  const address = parseModuleAddress(path)
  const proxies = proxyRules(process.env)
  const problems = [...proxies.problems]
  if (what !== 'module' || file === undefined || others.length > 0) {
    problems.push(
      'write what to publish: depot publish module FOLDER|ARCHIVE; providers need --direct',
    )
  } else if (!existsSync(file)) problems.push(`${file} does not exist`)
  if (address === undefined) {
    problems.push(
      `--to: ${JSON.stringify(to)} is not the address of a module in a registry: write HOST/NAMESPACE/NAME/SYSTEM, or add --direct to write to storage and records yourself`,
    )
  }
  if (problems.length > 0 || address === undefined || file === undefined) {
    throw new OptionsError(problems)
  }
  const spelled = options.version ?? (await headVersion(file, tagPrefix))
  const version = normalizeVersion(spelled)
  const limits = limitsOf(options).module
  return publishOverHttp(options, { file, host, address, version, allowed, limits, proxies })
}

/** @throws mistakes of the command line, and errors of the program */
function statusOf(error: unknown): number {
  const isUnread = error instanceof ClusterUnread && error.mayPass
  const isOfFiles = codeOf(error) !== ''
  const isExplained = error instanceof ReasonError && error.reason !== 'NotConfigured'
  if (!isUnread && !isOfFiles && !isExplained) throw error
  process.stderr.write(`depot: ${messageOf(error)}\n`)
  const isLater = isUnread || (error instanceof ReasonError && mayPass(error.reason))
  return isLater ? statuses.unreachable : statuses.refused
}

type Inputs = Awaited<ReturnType<typeof readInputs>>

async function publishModule(
  options: PublishCommandOptions,
  context: PublishContext,
  asked: Inputs,
): Promise<number> {
  const version = options.version ?? (await headVersion(asked.file, options.tagPrefix))
  return planPublication(context, { ...asked, version }, async (publication) => {
    const { target, comparison, isBroken } = publication
    if (isBroken) {
      process.stderr.write(
        `depot: warning: ${target.version} breaks callers of ${comparison?.from}; only a new major version says so\n`,
      )
    }
    return finish(options, publication, {
      text: asText(publication),
      json: (outcome) => asJson(publication, outcome),
      isThere: publication.isThere && !target.isMissing,
      run: () => publishIt(context, publication),
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
  return finish(options, publication, {
    text: providerText(publication),
    json: (outcome) => providerJson(publication, outcome),
    isThere: !publication.target.isMissing && publication.archives.every(({ isThere }) => isThere),
    run: () => publishProvider(context, publication),
  })
}

interface Work {
  readonly text: string
  readonly json: (outcome: PublishOutcome) => string
  readonly isThere: boolean
  readonly run: () => Promise<'published' | 'exists'>
}

/** Prints what is published, and publishes it if nothing is in its way. */
async function finish(
  { output, dryRun, manifests }: PublishCommandOptions,
  { refusals, target }: Pick<Publication, 'refusals' | 'target'>,
  { text, json, isThere, run }: Work,
): Promise<number> {
  const print = (written: string) => process.stdout.write(written)
  const end = (outcome: PublishOutcome, sentence: string) =>
    print(output === 'json' ? json(outcome) : `${sentence}\n`)
  if (output === 'text') print(text)
  if (refusals.length > 0) {
    for (const { message } of refusals) process.stderr.write(`depot: ${message}\n`)
    end('refused', 'refused: nothing was written')
    return statuses.refused
  }
  if (dryRun) {
    end('planned', isThere ? 'it is published already' : 'it would be published')
    return statuses.published
  }
  const outcome = await run()
  const { namespace, name, system } = target.address
  const address = [namespace, name, system].filter((part) => part !== undefined).join('/')
  const where = manifests ?? 'the cluster'
  end(
    outcome,
    outcome === 'exists'
      ? `${address} ${target.version} was published already`
      : `published: servers of ${where} serve it as soon as they have read it`,
  )
  return statuses.published
}

/** @throws OptionsError naming every mistake */
async function readInputs(options: PublishCommandOptions, operands: readonly string[]) {
  const { to = '', manifests, storageConfig, allowFile = [], dryRun } = options
  const [what, file, ...others] = operands
  const isModule = what === 'module'
  const problems: string[] = []
  if ((!isModule && what !== 'provider') || file === undefined || others.length > 0) {
    problems.push(
      'write what to publish: depot publish module FOLDER|ARCHIVE, or depot publish provider FOLDER',
    )
  } else if (!existsSync(file)) problems.push(`${file} does not exist`)
  const ofModules = { '--allow-file': options.allowFile, '--tag-prefix': options.tagPrefix }
  for (const [flag, value] of isModule ? [] : Object.entries(ofModules)) {
    if (value !== undefined) problems.push(`${flag} is for modules only: leave it out`)
  }
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
      ? await storageIn(storageConfig).catch((error: unknown) => {
          throw new OptionsError([`--storage-config: ${messageOf(error)}`])
        })
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
