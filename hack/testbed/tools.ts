import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** True in CI, where a tool that is missing is an error. On a laptop its tests are skipped. */
export const inCi = !['', '0', 'false'].includes(process.env['CI'] ?? '')

/**
 * Path of a tool, as hack/tool finds it. `make tools` has got it before any test. Otherwise it is downloaded or built
 * now, which takes minutes.
 *
 * @throws Error if this machine cannot have the tool; hack/tool has printed why
 */
export const toolPath = (name: string): string => ask(name)

/** The same, if that needs neither a download nor a build. @throws Error otherwise */
export const readyToolPath = (name: string): string => ask('--ready', name)

function ask(...args: readonly string[]): string {
  return execFileSync(join(import.meta.dirname, '../tool'), args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
}

/**
 * Finds what tests need.
 *
 * @param what its name, for the message
 * @returns undefined on a laptop that lacks it, after saying that its tests are skipped
 * @throws Error in CI
 */
export function findForTests<T>(what: string, find: () => T): T | undefined {
  try {
    return find()
  } catch (err) {
    if (inCi) throw new Error(`the tests need ${what}`, { cause: err })
    console.warn(`every test that needs ${what} is SKIPPED: it is missing here`)
    return undefined
  }
}
