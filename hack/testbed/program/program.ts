import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { bareEnvironment } from '../environment.ts'
import { depotArguments } from './command.ts'

/** A command line for the process of host.ts. */
export interface Task {
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Written to both streams behind the output of the command. */
  readonly mark: string
}

interface Outcome {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

const idle: ChildProcess[] = []
/** Those that run a command now. */
const busy = new Set<ChildProcess>()

/**
 * Runs a command of `depot` to its end, in a process that then runs the next one: to start Node and load the modules takes
 * longer than almost every command. Commands at the same time are in processes of their own.
 *
 * A test of signals, of limits of the process, or of a command that others find in a list of processes needs a real start.
 *
 * @param env all variables of the command but those that every program has
 */
export async function runProgram(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const child = waiting() ?? started()
  busy.add(child)
  const { stdout, stderr } = child
  if (stdout === null || stderr === null) throw new Error('the program has no pipes')
  const mark = `\0${randomUUID()}`
  const output = Promise.all([textBefore(stdout, mark), textBefore(stderr, mark)])
  const over = new AbortController()
  const [answered, closed] = ['message', 'close'].map((event) => once(child, event, over))
  child.send({ args, cwd, env: { ...bareEnvironment, ...env }, mark } satisfies Task)
  const [status] = (await Promise.race([answered, closed])) as [number | null]
  over.abort()
  const [out, err] = await output
  busy.delete(child)
  if (child.connected) idle.push(child)
  return { status, stdout: out, stderr: err }
}

/** A process that waits for its next command. One may have ended since its last, if a promise of it was rejected late. */
function waiting(): ChildProcess | undefined {
  const child = idle.pop()
  return child === undefined || child.connected ? child : waiting()
}

function started(): ChildProcess {
  const child = fork(join(import.meta.dirname, 'host.ts'), depotArguments(), {
    env: bareEnvironment,
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  child.once('exit', (status) => {
    if (status && !busy.has(child))
      console.error(`depot: a command failed after its end: ${child.stderr?.read()}`)
  })
  child.unref()
  return child
}

/** Text of a stream up to a mark, or to its end. */
async function textBefore(stream: Readable, mark: string): Promise<string> {
  const chunks: Buffer[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const take = (chunk: Buffer) => {
    chunks.push(chunk)
    if (Buffer.concat(chunks.slice(-2)).includes(mark)) resolve()
  }
  stream.on('data', take).on('end', resolve)
  await promise
  stream.off('data', take).off('end', resolve)
  return Buffer.concat(chunks).toString().split(mark, 1)[0] ?? ''
}
