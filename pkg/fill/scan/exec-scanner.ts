import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import * as z from 'zod'
import type { SecurityFinding } from '../../api/v1alpha1/v1alpha1.ts'
import { codeOf } from '../../base/errors/errors.ts'
import { findingId } from './findings.ts'
import { type ArchiveScanner, ScanError } from './scanner.ts'
import { failed, jsonIn } from './scanner-process.ts'

const text = z.string()
const Findings = z.array(
  z.object({
    vulnerabilityID: findingId,
    pkgName: text.default(''),
    installedVersion: text.default(''),
    fixedVersion: text.optional(),
    severity: text.default('UNKNOWN'),
    title: text.default(''),
  }),
)

/**
 * Any program: `COMMAND source|binary FOLDER` writes a JSON list of findings to standard output and ends with 0. A file of
 * another time is another scanner, because it cannot be asked for its version.
 */
export function execScanner(command: string): ArchiveScanner {
  return {
    command,
    async identity() {
      const file = await stat(command).catch((error: unknown) => {
        const message = `the scanner ${command} is missing (${codeOf(error)}): install it, or correct --scanner-command`
        throw new ScanError('ScannerAbsent', message, { cause: error })
      })
      return { scanner: `${basename(command)} of ${file.mtime.toISOString()}`, databases: {} }
    },
    argumentsFor: (target, folder) => [target === 'binary' ? 'binary' : 'source', folder],
    findingsIn: (output) => findingsIn(output, basename(command)),
  }
}

function findingsIn(output: Buffer, name: string): SecurityFinding[] {
  const { data, error } = Findings.safeParse(jsonIn(output, name))
  if (data !== undefined) return data
  const [issue] = error.issues
  const where = issue?.path.join('.')
  throw failed(
    `${name} did not write a JSON list of findings${where ? `: ${where}: ${issue?.message}` : ''}`,
  )
}
