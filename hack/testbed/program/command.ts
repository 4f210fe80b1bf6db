import { join } from 'node:path'

const repository = join(import.meta.dirname, '../../..')

/**
 * Names the variable with the path of the program that tests start. A suite that starts many sets it to the program of the
 * image, which it builds once. Set it to cmd/depot/main.ts to debug the sources.
 */
export const builtProgram = 'DEPOT_E2E_PROGRAM'

/**
 * The arguments with which Node runs `depot`. A start from the program of the image takes half the processor time of one from
 * the sources, which are a thousand files.
 */
export function depotArguments(...args: readonly string[]): string[] {
  return [process.env[builtProgram] ?? join(repository, 'cmd/depot/main.ts'), ...args]
}
