import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import packageJson from '../../package.json' with { type: 'json' }
import { defaultLimits } from '../../pkg/archives/archive/archive.ts'
import {
  type ArchiveStore,
  openArchiveStore,
  storageOfEnvironment,
} from '../../pkg/archives/storage/storage.ts'
import {
  mayPass,
  messageOf,
  ReasonError,
  RegistryError,
  unavailable,
} from '../../pkg/base/errors/errors.ts'
import type { FolderLock } from '../../pkg/base/folderlock/folderlock.ts'
import { proxyRules } from '../../pkg/base/http/http.ts'
import { OptionsError, type PublishCommandOptions } from '../../pkg/base/options/options.ts'
import { madeFolderProblem } from '../../pkg/base/run/run.ts'
import { createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import {
  type Publication,
  type PublishContext,
  parseModuleAddress,
  planPublication,
  publish as publishIt,
} from '../../pkg/fill/publishing/publishing.ts'
import { storageIn } from '../import/import.ts'
import { openRecords } from '../records/records.ts'
import { onlyOne } from '../sync/sync.ts'
import { headVersion } from './head-version.ts'
import { asJson, asText, type PublishOutcome } from './report.ts'

const statuses = { served: 0, refused: 1, unreachable: 3 } as const

/**
 * Publishes a version of a module with the credentials of the caller.
 *
 * @returns the exit status
 * @throws OptionsError naming every mistake of the command line
 */
export async function publish(
  options: PublishCommandOptions,
  operands: readonly string[],
): Promise<number> {
  const asked = await readInputs(options, operands)
  const stopped = new AbortController()
  const workDir = await mkdtemp(join(tmpdir(), 'depot-publish-'))
  try {
    await using _ = await folderLock(options, () =>
      stopped.abort(new Error('the folder is locked')),
    )
    await using records = await openRecords(
      options,
      [asked.address.namespace],
      createMetrics({ version: packageJson.version }),
    )
    const context = {
      objects: records.objects,
      archives: asked.archives,
      workDir,
      limits: {
        ...defaultLimits.module,
        packedBytes: options.moduleSizeLimitBytes,
        unpackedBytes: options.moduleUnpackedLimitBytes,
      },
      signal: stopped.signal,
    }
    return await planPublication(context, asked, (publication) =>
      finish(options, context, publication),
    )
  } catch (error) {
    if (!(error instanceof ReasonError)) throw error
    process.stderr.write(`depot: ${messageOf(error)}\n`)
    return mayPass(error.reason) ? statuses.unreachable : statuses.refused
  } finally {
    await rm(workDir, { recursive: true, force: true })
  }
}

async function finish(
  { output, dryRun, manifests }: PublishCommandOptions,
  context: PublishContext,
  publication: Publication,
): Promise<number> {
  const print = (text: string) => process.stdout.write(text)
  const end = (outcome: PublishOutcome, sentence: string) =>
    print(output === 'json' ? asJson(publication, outcome) : sentence)
  if (output === 'text') print(asText(publication))
  const { refusals, target, isThere, comparison } = publication
  if (publication.isBroken) {
    process.stderr.write(
      `depot: warning: ${target.version} breaks callers of ${comparison?.from}; only a new major version says so\n`,
    )
  }
  if (refusals.length > 0) {
    for (const { message } of refusals) process.stderr.write(`depot: ${message}\n`)
    end('refused', 'refused: nothing was written\n')
    return statuses.refused
  }
  if (dryRun) {
    end('planned', isThere ? 'it is published already\n' : 'it would be published\n')
    return statuses.served
  }
  const { name, system } = target.address
  const outcome = await publishIt(context, publication)
  const where = manifests === undefined ? 'the cluster' : manifests
  end(
    outcome,
    outcome === 'exists'
      ? `${name}/${system} ${target.version} was published already\n`
      : `published: servers of ${where} serve it as soon as they have read it\n`,
  )
  return statuses.served
}

/** @throws OptionsError naming every mistake */
async function readInputs(options: PublishCommandOptions, operands: readonly string[]) {
  const { to = '', manifests, storageConfig, allowFile = [], tagPrefix, dryRun } = options
  const [what, file, ...others] = operands
  const problems: string[] = []
  if (what !== 'module' || file === undefined || others.length > 0) {
    problems.push('write what to publish: depot publish module FOLDER|ARCHIVE')
  }
  const address = parseModuleAddress(to)
  if (address === undefined) problems.push(`--to: ${JSON.stringify(to)} ${addressAdvice}`)
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
    address,
    version: options.version ?? (await headVersion(file, tagPrefix)),
    storage,
    allowed: allowFile,
    archives: archivesIn(archivesDir, { proxies, ...env.settings }),
  }
}

const addressAdvice =
  'is not the address of a module: write NAMESPACE/NAME/SYSTEM, such as network/vpc/aws'

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

const lockMs = 30_000
const lockAgainMs = 200

/** Another program that writes to the folder may be done in a moment. @throws OptionsError */
async function folderLock(
  { manifests, dryRun }: PublishCommandOptions,
  onLost: () => void,
): Promise<FolderLock | undefined> {
  if (manifests === undefined || dryRun) return undefined
  const untilMs = Date.now() + lockMs
  for (;;) {
    try {
      return await onlyOne(manifests, 'depot publish', onLost)
    } catch (error) {
      if (Date.now() > untilMs) throw unavailable(messageOf(error), error)
      await sleep(lockAgainMs)
    }
  }
}
