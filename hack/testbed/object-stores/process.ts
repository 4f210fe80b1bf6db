import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../ports.ts'

const startDeadlineMs = 30_000

/**
 * Starts a server on a free port of 127.0.0.1 and waits until it answers.
 *
 * @param args of the program for a port, separated by blanks
 * @throws Error with its output if it does not answer within half a minute
 */
export async function startProcess(
  program: string,
  args: (port: number) => string,
  env: NodeJS.ProcessEnv = {},
): Promise<{ port: number; pid: number; stop: () => Promise<void> }> {
  const port = await freePort()
  const child = spawn(program, args(port).split(' '), {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output = (output + bytes.toString()).slice(-10_000)
    })
  }
  const deadline = performance.now() + startDeadlineMs
  while (!(await answers(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`${program} does not answer:\n${output}`)
    }
    await sleep(50)
  }
  return { port, pid: child.pid ?? 0, stop: () => stop(child) }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  )
