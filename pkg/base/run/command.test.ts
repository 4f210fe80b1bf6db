import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'

const bytes = 1_000_000

it('prints a long result completely, whenever it is read', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'depot-command-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const program = join(dir, 'program.ts')
  writeFileSync(
    program,
    `import { runCommand } from ${JSON.stringify(join(import.meta.dirname, 'run.ts'))}
    await runCommand({
      command: { program: 'depot', summary: '', usage: '', examples: [], options: {}, secrets: {}, rules: [] },
      args: [],
      version: '',
      main() {
        process.stdout.write('x'.repeat(${bytes}))
        process.stderr.write('written')
      },
    })`,
  )
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
