import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, it } from 'vitest'
import { LogOutput } from './log-output.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-log-'))
afterAll(() => rmSync(dir, { recursive: true }))

/** Logs a number of lines, then ends as the server does. */
const program = join(dir, 'log.ts')
writeFileSync(
  program,
  `import { createLogger, flushLogs } from ${JSON.stringify(join(import.meta.dirname, 'telemetry.ts'))}
  const log = createLogger('info')
  for (let n = 0; n < Number(process.argv[2]); n += 1) {
    log.info({ n, filler: 'x'.repeat(1000) }, 'line')
    if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await flushLogs(Number(process.argv[3]))
  process.exit(7)`,
)

/** @param flushMs how long its end waits for what is not written yet */
async function run(lines: number, stdout: number | 'pipe', flushMs: number) {
  const child = spawn(process.execPath, [program, String(lines), String(flushMs)], {
    stdio: ['ignore', stdout, 'inherit'],
  })
  const written = child.stdout === null ? '' : text(child.stdout)
  const [code] = (await once(child, 'exit')) as [number | null]
  return { code, written: await written }
}

const numbers = (log: string) =>
  log
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { n: number }).n)
const all = Array.from({ length: 500 }, (_, n) => n)

it('writes every line to a pipe, in order', async () => {
  const { code, written } = await run(500, 'pipe', 60_000)
  expect([code, numbers(written)]).toEqual([7, all])
})

it('writes every line to a file, in order', async () => {
  const file = join(dir, 'log')
  const fd = openSync(file, 'w')
  const { code } = await run(500, fd, 60_000)
  closeSync(fd)
  expect([code, numbers(readFileSync(file, 'utf8'))]).toEqual([7, all])
})

it('writes lines as they are, in order, whatever their characters and their length', async () => {
  const file = join(dir, 'texts')
  const fd = openSync(file, 'w')
  const output = new LogOutput(fd)
  const texts = ['a', 'é', '界', '🚀'].flatMap((character) =>
    [1, 300, 21_000, 22_000, 65_535, 65_536, 200_000].flatMap((length) => [
      `${character.repeat(length)}\n`,
      `short ${character} ${length}\n`,
    ]),
  )
  for (const line of texts) output.write(line)
  await output.flush(60_000)
  closeSync(fd)
  expect(readFileSync(file, 'utf8').split('\n')).toEqual(texts.join('').split('\n'))
})

it('does not block or keep the process if the disk is full', async () => {
  const fd = openSync('/dev/full', 'w')
  expect(await run(500, fd, 500)).toMatchObject({ code: 7 })
  closeSync(fd)
})

it('does not block or keep the process if nothing reads', async () => {
  const fifo = join(dir, 'fifo')
  execFileSync('mkfifo', [fifo])
  const fd = openSync(fifo, 'r+')
  expect(await run(5000, fd, 500)).toMatchObject({ code: 7 })
  closeSync(fd)
})
