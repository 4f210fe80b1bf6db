import { formatPath, unknownFieldsIn } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { codeOf, messageOf } from '../../pkg/base/errors/errors.ts'
import { OptionsError, type PolicyCommandOptions } from '../../pkg/base/options/options.ts'
import { stdout } from '../../pkg/base/run/run.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { openPolicyFile, type Policy } from '../../pkg/fill/policy/policy.ts'
import { keyOf, policiesOf, policyOf } from '../../pkg/fill/sync/sync.ts'
import { proposedObjects, type StoredObject } from '../../pkg/records/store/store.ts'
import { openRecords } from '../records/records.ts'
import { type HeldRow, heldRows, heldText, unlistedCount } from './held.ts'
import { subjectsOf } from './subjects.ts'
import { otherLines, policyLines, testText, verdictOf } from './verdict.ts'

/**
 * `depot policy`.
 *
 * @returns 1 if a version does not come in at once
 * @throws OptionsError for mistakes of the command line, and for files and records that cannot be read
 */
export async function policy(
  options: PolicyCommandOptions,
  [verb, ...operands]: readonly string[],
): Promise<string | number> {
  const [address, ...others] = operands
  if (verb === 'list' && address === undefined) return list(options)
  if (verb === 'test' && address !== undefined && others.length === 0) return test(options, address)
  throw new OptionsError(['write test ADDRESS[@VERSION], or list'])
}

async function test(options: PolicyCommandOptions, operand: string): Promise<string | number> {
  const { depot: file, upstreamPolicy, output } = options
  if (file === undefined && upstreamPolicy === undefined) {
    throw new OptionsError(['name a Depot with --depot FILE, or a policy with --upstream-policy'])
  }
  const depots = file === undefined ? [{ spec: {} }] : await depotsIn(file, options)
  const installation = await installationOf(options)
  const at = operand.lastIndexOf('@')
  const address = at > 0 ? operand.slice(0, at) : operand
  const version = at > 0 ? operand.slice(at + 1) : undefined
  const verdicts = depots.map((depot) => {
    const name = 'metadata' in depot ? `Depot ${keyOf(depot.metadata)}` : undefined
    return verdictOf({
      depot: name,
      policy: policyIn(depot, installation),
      subjects: subjectsOf(depot, address),
      address,
      version,
      others: otherLines(policiesOf(depot.spec), installation?.current),
    })
  })
  const status = verdicts.every(({ state }) => state === 'ComesIn') ? 0 : 1
  stdout.write(
    output === 'json'
      ? `${JSON.stringify({ schema: 1, address, version, verdicts }, null, 2)}\n`
      : verdicts.map((verdict) => testText(verdict, address, version)).join(''),
  )
  return status
}

async function list(options: PolicyCommandOptions): Promise<string> {
  await using records = await openRecords(options)
  const { objects } = records
  if (options.held) {
    const rows: HeldRow[] = heldRows(objects)
    const unlisted = unlistedCount(objects)
    return options.output === 'json'
      ? `${JSON.stringify({ schema: 1, held: rows, unlisted }, null, 2)}\n`
      : heldText(rows, unlisted)
  }
  const installation = await installationOf(options)
  const policies = objects.list('Depot').map((depot) => ({
    depot: keyOf(depot.metadata),
    rules: [
      ...policyLines(policyIn(depot, installation)),
      ...otherLines(policiesOf(depot.spec), installation?.current),
    ],
  }))
  if (options.output === 'json') return `${JSON.stringify({ schema: 1, policies }, null, 2)}\n`
  if (policies.length === 0) return 'There is no Depot.\n'
  return policies
    .map(({ depot, rules }) => `Depot ${depot}\n${rules.map((rule) => `  ${rule}\n`).join('')}`)
    .join('')
}

function installationOf({ upstreamPolicy: path }: PolicyCommandOptions) {
  const metrics = createMetrics()
  const log = createLogger('silent')
  return openPolicyFile({ path, log, metrics, follow: false })
}

/** @throws OptionsError if a rule cannot be read */
function policyIn(
  depot: Pick<StoredObject, 'spec'>,
  installation: Awaited<ReturnType<typeof installationOf>>,
): Policy | undefined {
  try {
    return policyOf({ installation }, depot)
  } catch (error) {
    throw new OptionsError([messageOf(error)])
  }
}

async function depotsIn(path: string, { apiGroup }: PolicyCommandOptions): Promise<StoredObject[]> {
  const { objects, mistakes } = await proposedObjects(path, apiGroup).catch((error: unknown) => {
    const problem = codeOf(error) === 'ENOENT' ? 'does not exist' : messageOf(error)
    throw new OptionsError([`--depot: ${path}: ${problem}`])
  })
  if (mistakes.length > 0) throw new OptionsError(mistakes)
  const depots = objects.filter(({ kind }) => kind === 'Depot')
  const unknown = depots.flatMap(({ metadata, spec }) =>
    unknownFieldsIn('Depot', { spec }).map(
      (one) => `--depot: ${path}: Depot ${keyOf(metadata)} ${formatPath(one.path)} ${one.message}`,
    ),
  )
  if (unknown.length > 0) throw new OptionsError(unknown)
  if (depots.length > 0) return depots
  throw new OptionsError([`--depot: ${path} contains no Depot of ${apiGroup}`])
}
