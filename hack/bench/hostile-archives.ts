/**
 * Measures the cost of hostile archives of about 10 MB: CPU time and memory of a process that refuses one.
 *
 * node hack/bench/hostile-archives.ts
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rawTar } from '../../pkg/archives/archive/raw-tar.fixture.ts'
import { rawZip } from '../../pkg/archives/archive/raw-zip.fixture.ts'

const mebibyte = 1024 * 1024
const directory = mkdtempSync(join(tmpdir(), 'depot-hostile-'))
const noise = randomBytes(9 * mebibyte)
const names = Array.from({ length: 10_000 }, (_, index) => `${'d/'.repeat(400)}${index}.tf`)

/** About as much as fits under the ratio: 50 bytes for each packed one. */
const dense = Buffer.concat(
  Array.from({ length: 480 }, (_, index) =>
    Buffer.concat([noise.subarray(index * 18_000, (index + 1) * 18_000), Buffer.alloc(mebibyte)]),
  ),
)

const archives: Readonly<Record<string, () => Buffer>> = {
  'a tar.gz that unpacks to 10 GB': () => gzipOf(Buffer.alloc(10 * mebibyte), 1000),
  'a tar.gz that unpacks to 500 MB, with a bad name at its end': () =>
    gzipSync(rawTar([{ name: 'main.tf', content: dense }, { name: '../evil.tf' }]), { level: 1 }),
  'a zip whose directory lies about its sizes': () =>
    rawZip([
      { name: 'main.tf', content: Buffer.alloc(900 * mebibyte), both: { sizeBytes: 1000 } },
      { name: 'noise', content: noise, method: 0 },
    ]),
  'a zip of 10,000 long names, the last of them twice': () =>
    rawZip([...names, names.at(-1) ?? ''].slice(1).map((name) => ({ name }))),
  'a zip of 9 MB with a wrong CRC': () =>
    rawZip([{ name: 'main.tf', content: noise, method: 0, both: { crc: 1 } }]),
  'a tar of 9 MB of attributes': () =>
    rawTar(
      Array.from({ length: 9 }, () => ({
        name: 'x',
        type: 'x',
        content: Buffer.alloc(mebibyte, 'a'),
      })),
    ),
}

/** The same block many times, as members of one stream. */
function gzipOf(block: Buffer, times: number): Buffer {
  const head = rawTar([{ name: 'main.tf', sizeBytes: block.length * times }], Buffer.alloc(0))
  const member = gzipSync(block)
  return Buffer.concat([gzipSync(head), ...Array.from({ length: times }, () => member)])
}

const program = `
  import { readFileSync } from 'node:fs'
  import { normaliseModule } from ${JSON.stringify(join(import.meta.dirname, '../../pkg/archive/archive.ts'))}
  const file = process.argv.at(-1)
  const before = process.cpuUsage()
  const refused = await normaliseModule({ file, into: file + '.out', format: 'tar.gz' }).catch(({ message }) => message)
  const { user, system } = process.cpuUsage(before)
  const seconds = (user + system) / 1e6
  // The most that was resident since the program began; what rusage says counts the process that it was forked from.
  const [, kilobytes] = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))
  console.log(JSON.stringify({ refused, seconds, megabytes: Math.round(kilobytes / 1024) }))`

for (const [what, make] of Object.entries(archives)) {
  const file = join(directory, 'archive')
  const bytes = make()
  writeFileSync(file, bytes)
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', program, file],
    { encoding: 'utf8' },
  )
  console.log(`${what} (${(bytes.length / mebibyte).toFixed(1)} MiB): ${stdout.trim()}${stderr}`)
  rmSync(`${file}.out`, { force: true })
}
rmSync(directory, { recursive: true })
