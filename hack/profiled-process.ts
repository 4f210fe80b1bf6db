import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The work of a process between two moments. */
export interface Walked {
  /** The files of pkg and cmd that it entered, sorted. */
  readonly files: readonly string[]
  /** How often it called a function, such as `pkg/base/run/run.ts run`. */
  readonly calls: ReadonlyMap<string, number>
}

/** A Depot program whose coverage is read through the inspector: it shows code that ran, not code that was imported. */
export class ProfiledProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #inspector: WebSocket
  /** Never resolves, and rejects if the process ends by itself. */
  readonly #ended: Promise<never>
  #sent = 0

  private constructor(child: ChildProcess, inspector: WebSocket) {
    this.#child = child
    this.#inspector = inspector
    const ended = Promise.withResolvers<never>()
    child.once('exit', (code) => ended.reject(new Error(`the process ended with ${code}`)))
    this.#ended = ended.promise
    this.#ended.catch(() => undefined)
  }

  /** @param said what its first lines have to match. @returns the process, and the text in the brackets of the pattern */
  static async start(args: readonly string[], said?: RegExp): Promise<[ProfiledProcess, string]> {
    const main = join(root, 'cmd/depot/main.ts')
    const child = spawn(process.execPath, ['--inspect=127.0.0.1:0', main, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // V8 counts less precisely what it did not compile itself.
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
    })
    const inspectorUrl = lineOf(child, 'stderr', /listening on (ws:\S+)/)
    const line = said === undefined ? '' : lineOf(child, 'stdout', said)
    const inspector = new WebSocket(await inspectorUrl)
    await once(inspector, 'open')
    const profiled = new ProfiledProcess(child, inspector)
    const found = await line
    await profiled.#ask('Profiler.enable')
    await profiled.#ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    return [profiled, found]
  }

  /** @returns the work until the process is idle again */
  async walk(act: () => unknown): Promise<Walked> {
    await this.#untilIdle()
    await act()
    const calls = new Map<string, number>()
    while (calls.size === 0) add(calls, await this.#untilIdle())
    const files = new Set(Array.from(calls.keys(), (call) => call.split(' ')[0] ?? ''))
    return { files: [...files].toSorted(), calls }
  }

  /** Waits until no file was entered five times in a row. @returns the calls before that */
  async #untilIdle(): Promise<Map<string, number>> {
    const calls = new Map<string, number>()
    for (let idle = 0; idle < 5; ) {
      const taken = await this.#take()
      idle = taken.size === 0 ? idle + 1 : 0
      add(calls, taken)
      await sleep(20)
    }
    return calls
  }

  /** The calls since this was asked last. */
  async #take(): Promise<Map<string, number>> {
    interface Script {
      readonly url: string
      readonly functions: readonly {
        readonly functionName: string
        readonly ranges: readonly { readonly count: number }[]
      }[]
    }
    const { result } = (await this.#ask('Profiler.takePreciseCoverage')) as { result: Script[] }
    const calls = new Map<string, number>()
    for (const { url, functions } of result.filter((script) => script.url.startsWith('file:'))) {
      const file = relative(root, fileURLToPath(url))
      if (!/^(?:pkg|cmd)\//.test(file)) continue
      for (const { functionName, ranges } of functions) {
        const count = ranges[0]?.count ?? 0
        if (count > 0) add(calls, [[`${file} ${functionName}`, count]])
      }
    }
    return calls
  }

  async #ask(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#sent
    const answered = Promise.withResolvers<unknown>()
    const heard = ({ data }: MessageEvent): void => {
      const message = JSON.parse(String(data)) as { id?: number; result?: unknown }
      if (message.id === id) answered.resolve(message.result)
    }
    this.#inspector.addEventListener('message', heard)
    this.#inspector.send(JSON.stringify({ id, method, params }))
    const result = await Promise.race([answered.promise, this.#ended])
    this.#inspector.removeEventListener('message', heard)
    return result
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#inspector.close()
    const exited = once(this.#child, 'exit')
    this.#child.kill()
    await exited
  }
}

function add(sums: Map<string, number>, more: Iterable<readonly [string, number]>): void {
  for (const [name, count] of more) sums.set(name, (sums.get(name) ?? 0) + count)
}

/** The text in the brackets of the first line that matches. */
function lineOf(
  child: ChildProcess,
  stream: 'stdout' | 'stderr',
  pattern: RegExp,
): Promise<string> {
  const found = Promise.withResolvers<string>()
  const said: string[] = []
  const input = child[stream]
  if (input === null) throw new Error(`no ${stream}`)
  createInterface({ input }).on('line', (line) => {
    said.push(line)
    const [, value] = pattern.exec(line) ?? []
    if (value !== undefined) found.resolve(value)
  })
  child.once('exit', (code) => found.reject(new Error(`ended with ${code}:\n${said.join('\n')}`)))
  return found.promise
}
