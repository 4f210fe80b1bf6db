import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onOneProcessor } from './one-processor.ts'

export interface WrkLoad {
  readonly url: string
  readonly connections: number
  /** Fractions are allowed. */
  readonly seconds: number
  /** Values of the Authorization header, one after the other. Default: there is no such header. */
  readonly authorizations?: readonly string[]
  /** Makes each request differ from all others by a query parameter that means nothing. */
  readonly unique?: boolean
}

export interface WrkResult {
  readonly requests: number
  /** Bytes of complete answers and of those that were cut off at the end. */
  readonly bytes: number
  readonly requestsPerSecond: number
  readonly bytesPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const byteUnits: Readonly<Record<string, number>> = { B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30 }
const timeUnits: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 }

/** Name of the query parameter that makes requests differ. */
export const uniqueParameter = '_'

/** Sends requests with wrk, which is native and leaves the CPU to the servers. Bytes count even where an answer was cut off. */
export async function wrk(load: WrkLoad): Promise<WrkResult> {
  const dir = mkdtempSync(join(tmpdir(), 'depot-wrk-'))
  try {
    const script = scriptFor(load)
    const file = join(dir, 'load.lua')
    if (script !== undefined) writeFileSync(file, script)
    const { connections, seconds, url } = load
    // It takes whole seconds only, and tells what it has seen when it is interrupted.
    const args = ['-t', '1', '-c', String(connections), '-d', `${Math.ceil(seconds) + 60}s`]
    args.push('--timeout', '60s', '--latency', ...(script === undefined ? [] : ['-s', file]), url)
    return parse(url, await interrupted(args, seconds))
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** Fails where there is no wrk, so that a benchmark says so before it has loaded anything. */
export async function requireWrk(): Promise<void> {
  try {
    // It prints its version, and fails, because it has no URL.
    await promisify(execFile)('wrk', ['--version'])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return
    throw new Error('wrk is missing: install it (apt-get install wrk, brew install wrk)', {
      cause: error,
    })
  }
}

/** Its output once it is interrupted; on a busy machine that may come before it has begun, and then it starts again. */
async function interrupted(args: readonly string[], seconds: number): Promise<string> {
  const running = promisify(execFile)(...onOneProcessor('wrk', args))
  const timer = setTimeout(() => running.child.kill('SIGINT'), seconds * 1000)
  try {
    return (await running).stdout
  } catch (error) {
    if ((error as { signal?: unknown }).signal !== 'SIGINT') throw error
    return await interrupted(args, seconds * 1.5)
  } finally {
    clearTimeout(timer)
  }
}

function parse(url: string, output: string): WrkResult {
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`${url}: ${output}`)
  const value = (pattern: RegExp, units: Readonly<Record<string, number>> = {}): number => {
    const [, amount, unit = ''] = pattern.exec(output) ?? []
    return Number(amount) * (units[unit] ?? 1)
  }
  return {
    requests: value(/(\d+) requests in/),
    bytes: value(/requests in [^,]+, ([\d.]+)([KMG]?B) read/, byteUnits),
    requestsPerSecond: value(/Requests\/sec:\s+([\d.]+)/),
    bytesPerSecond: value(/Transfer\/sec:\s+([\d.]+)([KMG]?B)/, byteUnits),
    p50Ms: value(/50%\s+([\d.]+)(us|ms|s|m)/, timeUnits),
    p99Ms: value(/99%\s+([\d.]+)(us|ms|s|m)/, timeUnits),
  }
}

/** Script for features that wrk has no flags for. */
function scriptFor({ authorizations, unique, url }: WrkLoad): string | undefined {
  if (unique) {
    const { pathname, search } = new URL(url)
    const path = `${pathname}${search}${search === '' ? '?' : '&'}${uniqueParameter}=`
    // Runs follow each other within a second.
    return `local n = 0
request = function()
  n = n + 1
  return wrk.format('GET', '${path}${randomUUID()}.' .. n)
end`
  }
  if (authorizations === undefined) return undefined
  const values = authorizations.map((value) => `'${value}'`).join(',\n')
  // Formatted once: wrk itself must not be what is slow.
  return `local values = {${values}}
local requests = {}
local n = 0
init = function()
  for index, value in ipairs(values) do
    requests[index] = wrk.format('GET', nil, { Authorization = value })
  end
end
request = function()
  n = n % #requests + 1
  return requests[n]
end`
}
