import { requireNone, type ScannerCommandOptions } from '../../pkg/base/options/options.ts'
import { folderProblem } from '../../pkg/base/run/run.ts'
import type { Logger } from '../../pkg/base/telemetry/telemetry.ts'
import type { Scans } from '../../pkg/fill/scan/scan.ts'
import { folderObjects, type Objects } from '../../pkg/records/store/store.ts'
import { onlyOne } from '../sync/sync.ts'

/**
 * Scans the archives of a folder of manifests, once.
 *
 * @returns 1 if a scan failed
 * @throws OptionsError if the folder cannot be used
 */
export async function scanFolder(
  { dir, apiGroup, output }: Pick<ScannerCommandOptions, 'apiGroup' | 'output'> & { dir: string },
  { begin, log }: { begin: (objects: Objects) => Promise<Scans>; log: Logger },
): Promise<number> {
  requireNone(folderProblem('--manifests', dir))
  const lost = Promise.withResolvers<'lost'>()
  await using _ = await onlyOne(dir, 'depot scanner', () => lost.resolve('lost'))
  const objects = await folderObjects({ dir, apiGroup, watch: false, log })
  const scans = await begin(objects)
  const end = await Promise.race([scans.idle(), lost.promise])
  const { done } = scans
  const failures = [...objects.mistakes(), ...scans.failures().map(textOf)]
  if (end === 'lost') {
    failures.push(`${dir}: another process writes to it, so the rest was not scanned: run it again`)
  }
  await scans.stop()
  await objects.close()
  if (output === 'json') {
    process.stdout.write(`${JSON.stringify({ schema: 1, scanned: done, failures }, null, 2)}\n`)
  } else {
    const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`
    const summary = `${count(done, 'archive')} scanned, ${count(failures.length, 'failure')}`
    process.stdout.write(`${[...failures, summary].join('\n')}\n`)
  }
  return failures.length > 0 ? 1 : 0
}

const textOf = ({ key, message }: { key: string; message: string }): string => `${key}: ${message}`
