import { codeOf, messageOf } from '../../pkg/base/errors/errors.ts'
import { limitHeap } from '../../pkg/base/fast/fast.ts'
import { closest, OptionsError, type PlanCommandOptions } from '../../pkg/base/options/options.ts'
import { stdout, temporaryFolder } from '../../pkg/base/run/run.ts'
import { createLogger, createMetrics, logOutput } from '../../pkg/base/telemetry/telemetry.ts'
import { openFetching } from '../../pkg/fill/fetching/fetching.ts'
import {
  asJson,
  asMarkdown,
  asText,
  hasDifferences,
  hasFailures,
  type PlannedChange,
  plan as planOf,
} from '../../pkg/fill/planning/planning.ts'
import {
  type ProposedObjects,
  proposedObjects,
  refOf,
  type StoredObject,
  type StoredRef,
} from '../../pkg/records/store/store.ts'
import { openRecords } from '../records/records.ts'

/**
 * Prints what a sync would do.
 *
 * @param paths files or folders that may not be part of the records yet
 * @returns 0 if nothing, 2 for changes, 1 if something failed
 * @throws OptionsError if files or records cannot be read
 */
export async function plan(options: PlanCommandOptions, paths: readonly string[]): Promise<number> {
  limitHeap()
  const { depot, apiGroup } = options
  const log = createLogger(options.logLevel, logOutput(options.logFormat, 2))
  const metrics = createMetrics()
  const proposed = (await Promise.all(paths.map((path) => read(path, apiGroup)))).flat()
  const files = proposed.flatMap((one) => one.objects)
  if (paths.length > 0 && files.length === 0) {
    const mistakes = proposed.flatMap((one) => one.mistakes)
    throw new OptionsError(
      mistakes.length > 0
        ? mistakes
        : [`${paths.join(', ')}: contains no Depot, Module, Provider or Version of ${apiGroup}`],
    )
  }
  const asked = askedOf(depot, files, paths.length > 0)
  const namespaces = asked && [...new Set(asked.map(({ namespace }) => namespace))]
  await using records = await openRecords(options, namespaces)
  const { objects, folder, clock } = records
  if (depot !== undefined) requireDepot(depot, [...objects.list('Depot'), ...files])
  await using fetching = await openFetching({
    options: {
      ...options,
      spoolDir: options.spoolDir ?? temporaryFolder('--spool-dir', 'depot-plan'),
      // A plan stores no archives there.
      spoolSizeBytes: 0,
    },
    env: process.env,
    secret: (namespace, name) => objects.secret(namespace, name),
    clock,
    log,
    metrics,
  })
  const changes = await planOf({
    objects,
    proposed: files,
    orphans: folder?.orphans(),
    asked,
    ...fetching,
    apiGroup,
    ...(folder && { confirmRemovals: false }),
    timings: { verifyMs: Number.POSITIVE_INFINITY, rehashMs: Number.POSITIVE_INFINITY },
    log,
    metrics,
  })
  const mistakes = [...proposed.flatMap((one) => one.mistakes), ...(folder?.mistakes() ?? [])]
  return print(options, changes, mistakes)
}

function print(
  { output }: PlanCommandOptions,
  changes: readonly PlannedChange[],
  mistakes: readonly string[],
) {
  for (const mistake of mistakes) process.stderr.write(`depot: ${mistake}\n`)
  stdout.write({ text: asText, json: asJson, markdown: asMarkdown }[output](changes))
  if (mistakes.length > 0 || hasFailures(changes)) return 1
  return hasDifferences(changes) ? 2 : 0
}

async function read(path: string, apiGroup: string): Promise<ProposedObjects> {
  try {
    return await proposedObjects(path, apiGroup)
  } catch (error) {
    throw new OptionsError([
      codeOf(error) === 'ENOENT'
        ? `${path} does not exist: name a file or folder of manifests`
        : `${path} cannot be read: ${messageOf(error)}`,
    ])
  }
}

/** The objects to plan; undefined for all. */
function askedOf(
  depot: string | undefined,
  files: readonly StoredObject[],
  hasFiles: boolean,
): readonly StoredRef[] | undefined {
  if (depot !== undefined) {
    const [namespace = '', name = ''] = depot.split('/')
    return [{ kind: 'Depot', namespace, name }]
  }
  if (!hasFiles) return undefined
  return files.map(refOf)
}

/** @throws OptionsError naming the Depots that exist */
function requireDepot(depot: string, known: readonly StoredObject[]): void {
  const names = known
    .filter(({ kind }) => kind === 'Depot')
    .map(({ metadata: { namespace, name } }) => `${namespace}/${name}`)
  if (names.includes(depot)) return
  const meant = closest(depot, names)
  const hint =
    meant !== undefined
      ? `did you mean ${meant}?`
      : names.length === 0
        ? 'there is none at all'
        : `there are ${names.slice(0, 10).join(', ')}`
  throw new OptionsError([`--depot: there is no Depot ${depot}: ${hint}`])
}
