import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Path of a tool, as hack/tool finds it. `make tools` has built it before any test; without that it is built now, which
 * takes minutes.
 *
 * @throws Error where the tool cannot be had on this machine; what hack/tool printed says why
 */
export function toolPath(name: string): string {
  return execFileSync(join(import.meta.dirname, '../tool'), [name], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
}
