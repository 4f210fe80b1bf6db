import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'

/*
 * Servers and their client on one processor, one of them at a time: how fast two processors of a virtual machine wake each
 * other is not a property of a server.
 */

const processor = String(cpus().length - 1)
let isPossible: boolean | undefined

/** Keeps all threads of a process on that processor, where the machine can do that. */
export function keepOnOneProcessor(pid: number): void {
  if (canPin()) execFileSync('taskset', ['-acp', processor, String(pid)], { stdio: 'ignore' })
}

/** A command that runs there, and does not interrupt a server whose answer it has waited for. */
export function onOneProcessor(command: string, args: readonly string[]): [string, string[]] {
  if (!canPin()) return [command, [...args]]
  return ['taskset', ['-c', processor, 'chrt', '--batch', '0', command, ...args]]
}

function canPin(): boolean {
  if (isPossible === undefined) {
    try {
      execFileSync('taskset', ['-c', processor, 'chrt', '--batch', '0', 'true'], {
        stdio: 'ignore',
      })
      isPossible = true
    } catch {
      isPossible = false
      console.error('no taskset and chrt: figures vary more than where there are both')
    }
  }
  return isPossible
}
