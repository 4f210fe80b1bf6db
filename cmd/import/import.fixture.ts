import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { bareEnvironment } from '../../hack/testbed/environment.ts'
import { depotArguments } from '../../hack/testbed/program/command.ts'

const [program = ''] = depotArguments()

/** How `depot` is started. */
export const depotCommand = [process.execPath, program] as const

/** Runs a command of `depot` to its end, in a folder. */
export async function depot(
  cwd: string,
  args: readonly string[],
  uid?: number,
  env: Readonly<Record<string, string>> = {},
) {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...bareEnvironment, TMPDIR: join(cwd, 'tmp'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid }),
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await exited
  return { status, stdout, stderr }
}

/** Writes a file with its folders. */
export function put(file: string, bytes: Buffer | string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, bytes)
}

/** Lists everything below a folder, with type, mode, modification time and digest. */
export function fingerprints(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((path) => {
      const stat = lstatSync(join(dir, path))
      const digest = stat.isFile()
        ? createHash('sha256')
            .update(readFileSync(join(dir, path)))
            .digest('hex')
        : 'folder'
      return [path, stat.mode, stat.mtimeMs, digest].join(' ')
    })
}
