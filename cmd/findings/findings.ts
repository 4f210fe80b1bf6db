import * as z from 'zod'
import { VersionFindings } from '../../pkg/api/browse/browse.ts'
import { cycloneDxOf, findingsText, isAtLeast, sarifOf } from '../../pkg/api/findings/findings.ts'
import { plainText } from '../../pkg/archives/docs/docs.ts'
import { type FindingsCommandOptions, OptionsError } from '../../pkg/base/options/options.ts'
import { stdout } from '../../pkg/base/run/run.ts'
import { openBrowseApi, registryAddress } from '../registry/registry.ts'

const Scan = VersionFindings.shape.scans.element
/** Later versions of Depot may write more fields. They appear in JSON, too. */
export const VersionReport = VersionFindings.omit({ packages: true })
  .extend({
    scans: z.array(Scan.extend({ findings: z.array(Scan.shape.findings.element.loose()) }).loose()),
  })
  .loose()

/**
 * Prints what scans found in a version of a registry.
 *
 * @returns the exit status: 1 for a finding of the severity or a worse one, 2 if there is none but not everything was scanned
 * @throws OptionsError if the findings cannot be read
 */
export async function findings(
  options: FindingsCommandOptions,
  operands: readonly string[],
): Promise<number> {
  const { host, path, version } = versionOf(operands)
  await using api = await openBrowseApi(options, host)
  const object = await api.objectAt(path)
  const query = version === undefined ? '' : `?version=${encodeURIComponent(version)}`
  const found = await api.ask(`${object}/findings${query}`, VersionReport)
  const print = {
    text: findingsText,
    json: () => asJson(found),
    sarif: () => asJson(sarifOf(found)),
    cyclonedx: () => asJson(cycloneDxOf(found)),
  }
  stdout.write(plainText(print[options.output](found)))
  if (found.scans.some((scan) => scan.findings.some((one) => isAtLeast(one, options.failOn)))) {
    return 1
  }
  const { unscanned, scans, address } = found
  if (unscanned.length === 0 && scans.length > 0) return 0
  const problem = `depot: ${address} ${found.version} is not known to be clean: ${unscanned.join(', ')} was not scanned; depot scanner scans it, and the conditions of its Version say what prevents that\n`
  process.stderr.write(plainText(problem))
  return 2
}

const asJson = (document: object): string => `${JSON.stringify(document, null, 2)}\n`

function versionOf(operands: readonly string[]) {
  const operand = operands.join(' ')
  const found = operands.length === 1 ? registryAddress(operand) : undefined
  if (found !== undefined) return found
  throw new OptionsError([
    `${JSON.stringify(operand)} is not an address: write HOST/NAMESPACE/NAME/SYSTEM of a module or HOST/NAMESPACE/TYPE of a provider, as in source of a configuration, without https://, and perhaps @VERSION`,
  ])
}
