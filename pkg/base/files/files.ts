/**
 * Files that somebody else replaces while the process runs, such as mounted Secrets.
 */

import { hash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'

/** Differs whenever the contents of these files differ. A file that cannot be read has none. */
export function contentsOf(paths: readonly string[]): string {
  return paths.map(digestOf).join()
}

function digestOf(path: string): string {
  try {
    // Reading a pipe would wait for whoever writes to it.
    return statSync(path).isFile() ? hash('sha256', readFileSync(path)) : ''
  } catch {
    return ''
  }
}

/**
 * Looks at files again and again. Several files change one after the other, so a change counts once two looks found the same.
 *
 * @param options.known their contents, taken before they were read for the first time
 * @param options.onChange ends before the next look; returns false to be called again although nothing has changed
 */
export function watchContents(
  paths: readonly string[],
  options: {
    readonly known: string
    readonly intervalMs: number
    readonly onChange: () => unknown
  },
): { stop(): void } {
  let [known, last] = [options.known, options.known]
  let looking = false
  const look = async (): Promise<void> => {
    const latest = contentsOf(paths)
    const isAtRest = latest === last
    last = latest
    if (!isAtRest || latest === known) return
    if ((await options.onChange()) !== false) known = latest
  }
  const timer = setInterval(() => {
    if (looking) return
    looking = true
    void look().finally(() => {
      looking = false
    })
  }, options.intervalMs).unref()
  return { stop: () => clearInterval(timer) }
}
