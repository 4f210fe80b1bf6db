import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { depotArguments } from '../../hack/testbed/program/command.ts'
import { runProgram } from '../../hack/testbed/program/program.ts'

const [program = ''] = depotArguments()

/** How `depot` is started. */
export const depotCommand = [process.execPath, program] as const

/** Runs a command of `depot` to its end, in a folder that has a folder for temporary files. */
export const depot = (
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) => runProgram(cwd, args, { TMPDIR: join(cwd, 'tmp'), ...env })

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
