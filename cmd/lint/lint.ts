import { messageOf } from '../../pkg/base/errors/errors.ts'
import {
  type LintCommandOptions,
  OptionsError,
  requireNone,
} from '../../pkg/base/options/options.ts'
import { folderProblem, stdout } from '../../pkg/base/run/run.ts'
import { programVersion } from '../../pkg/base/telemetry/telemetry.ts'
import { asJson, asSarif, asText, lint as check } from '../../pkg/fill/lint/lint.ts'
import { compileBinding } from '../../pkg/registry/access/access.ts'

/**
 * Checks manifests and prints the findings.
 *
 * @returns the exit status: 1 if there is an error
 * @throws OptionsError if a path does not exist
 */
export async function lint(options: LintCommandOptions, paths: readonly string[]): Promise<number> {
  const { archives: mount } = options
  requireNone(mount === undefined ? undefined : folderProblem('--archives', mount))
  const result = await check({ ...options, paths, compileBinding }).catch((error: unknown) => {
    const { code, path } = error as NodeJS.ErrnoException
    const problem =
      code === 'ENOENT'
        ? `${path} does not exist: name a file or folder of manifests`
        : `cannot be read: ${messageOf(error)}`
    throw new OptionsError([problem])
  })
  const print = { text: asText, json: asJson, sarif: asSarif }[options.output]
  stdout.write(print(result, programVersion))
  return result.findings.some(({ level }) => level === 'error') ? 1 : 0
}
