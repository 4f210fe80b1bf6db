import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'

const bytes = 1_000_000

/** A program that runs a command with this work. */
function programWith(work: string): { readonly program: string; readonly dir: string } {
  const dir = mkdtempSync(join(tmpdir(), 'depot-command-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const program = join(dir, 'program.ts')
  writeFileSync(
    program,
    `import { runCommand, stdout } from ${JSON.stringify(join(import.meta.dirname, 'run.ts'))}
    await runCommand({
      command: { program: 'depot', summary: '', usage: '', examples: [], options: {}, secrets: {}, rules: [] },
      args: [],
      version: '',
      async main() {${work}},
    })`,
  )
  return { program, dir }
}

it('prints a long result completely, whenever it is read', async () => {
  const { program } = programWith(`
    stdout.write('x'.repeat(${bytes}))
    process.stderr.write('written')`)
  const child = spawn(process.execPath, [program])
  const said = text(child.stderr)
  await once(child.stderr, 'data')
  const [result, [status]] = await Promise.all([text(child.stdout), once(child, 'close')])
  expect({ status, said: await said, length: result.length }).toEqual({
    status: 0,
    said: 'written',
    length: bytes,
  })
})

it('ends with 1 and says why if a file did not take the whole result', async () => {
  const { program, dir } = programWith(`return 'x'.repeat(${bytes})`)
  const file = join(dir, 'result')
  const { status, stderr } = spawnSync(
    'bash',
    ['-c', 'ulimit -f 1; trap "" XFSZ; "$0" "$1" > "$2"', process.execPath, program, file],
    { encoding: 'utf8' },
  )
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'depot: the output is not complete: EFBIG: file too large, write\n',
  })
})

it.runIf(existsSync('/dev/full'))(
  'goes on with its work if a full disk takes no output',
  async () => {
    const { program } = programWith(`
      process.stderr.write('begun\\n')
      stdout.write('a line\\n')
      await new Promise((done) => setTimeout(done, 10))
      stdout.write('one more\\n')
      process.stderr.write('done\\n')`)
    const full = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(full))
    const { status, stderr } = spawnSync(process.execPath, [program], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr:
        'begun\ndepot: the output is not complete: ENOSPC: no space left on device, write\ndone\n',
    })
  },
)
