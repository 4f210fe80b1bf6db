import { pathToFileURL } from 'node:url'
import type { Task } from './program.ts'

/*
 * Runs command lines of the program that it is given one after another, each with its own folder, variables and exit status, as a
 * process would. An error that nothing catches ends this process, as it would end that one.
 */

/** Thrown where a command leaves, so that nothing after it runs. */
class Left extends Error {}

const exit = process.exit.bind(process)
const program = pathToFileURL(process.argv[2] ?? '').href
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
let left = Promise.withResolvers<number>()
let count = 0

const leave = (status = process.exitCode) => left.resolve(Number(status ?? 0))

process.exit = (status) => {
  leave(status ?? undefined)
  throw new Left()
}
process.on('uncaughtException', (error) => {
  if (error instanceof Left) return
  process.stderr.write(`${error.stack}\n`)
  exit(1)
})
// Each log output waits for the end of the process.
process.setMaxListeners(0)
process.on('disconnect', () => exit(0))

process.on('message', (task: Task) => void run(task))

async function run({ args, cwd, env, mark }: Task): Promise<void> {
  process.chdir(cwd)
  process.argv.splice(2, Infinity, ...args)
  process.exitCode = undefined
  for (const variable of Object.keys(process.env)) delete process.env[variable]
  Object.assign(process.env, env)
  left = Promise.withResolvers()
  count += 1
  // Evaluates the program again; the modules that it imports stay.
  const running = import(`${program}?${count}`)
  // Leaves in its turn: a command that leaves with a status does so once its output is written.
  void running.then(() => process.stdout.write('', () => leave()))
  const status = await left.promise
  process.emit('exit', status)
  process.stdout.removeAllListeners('error')
  for (const signal of signals) process.removeAllListeners(signal)
  process.stdout.write(mark)
  process.stderr.write(mark)
  process.send?.(status)
}
