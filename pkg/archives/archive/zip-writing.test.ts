import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { ZipFile } from 'yazl'
import { zipBytes } from './zip-writing.ts'

interface File {
  readonly path: string
  readonly executable: boolean
  readonly sizeBytes: number
  readonly content: Buffer
}

/** Bytes that are the same in each run: noise, text and zeros beside each other. */
function contentOf(seed: string, sizeBytes: number): Buffer {
  const noise = createHash('shake256', { outputLength: Math.max(1, sizeBytes) })
    .update(seed)
    .digest()
  const text = Buffer.alloc(sizeBytes, `resource "null_resource" "${seed}" {}\n`)
  const third = Math.floor(sizeBytes / 3)
  return Buffer.concat([noise.subarray(0, third), text.subarray(third, 2 * third)], sizeBytes)
}

const file = (path: string, sizeBytes: number, executable = false): File => ({
  path,
  executable,
  sizeBytes,
  content: contentOf(path, sizeBytes),
})

async function* read({ content }: File): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += 100_000) yield content.subarray(at, at + 100_000)
}

/** As archives were packed that are published already. */
function byYazl(files: readonly File[]): Promise<Buffer> {
  const zip = new ZipFile()
  for (const { path, executable, sizeBytes, content } of files) {
    const options = {
      mtime: new Date(1980, 0, 1),
      forceDosTimestamp: true,
      mode: 0o100000 | (executable ? 0o755 : 0o644),
      size: sizeBytes,
    }
    const chunks = read({ path, executable, sizeBytes, content })
    zip.addReadStreamLazy(path, options, (give) => give(null, Readable.from(chunks)))
  }
  zip.end()
  return buffer(zip.outputStream)
}

const sizes = [0, 1, 100, 8_191, 65_535, 65_536, 262_143, 262_144, 262_145, 300_000, 2_000_000]

describe('a zip', () => {
  it.each([
    ['no files', []],
    ['files of every size', sizes.map((size) => file(`files/${size}.tf`, size, size % 2 === 0))],
    ['many small files', Array.from({ length: 500 }, (_, i) => file(`${i}/größe.tf`, i % 700))],
    ['long names', Array.from({ length: 200 }, (_, i) => file(`${'d/'.repeat(400)}${i}.tf`, i))],
  ])('of %s has the same bytes as one of yazl', async (_, files) => {
    const bytes = Buffer.concat(await Array.fromAsync(zipBytes(files, read)))
    expect(bytes.equals(await byYazl(files))).toBe(true)
  })

  it('is not written if a file has another size than announced', async () => {
    const changed = [{ ...file('main.tf', 100), sizeBytes: 99 }]
    await expect(Array.fromAsync(zipBytes(changed, read))).rejects.toThrow('changed')
  })

  it('is not written with more files than a zip without zip64 can have', async () => {
    const files = Array.from<File>({ length: 65_535 }).fill(file('a', 0))
    await expect(Array.fromAsync(zipBytes(files, read))).rejects.toThrow('65,534')
  })

  it('yields to other work while it writes many files', async () => {
    const files = Array.from({ length: 3_000 }, (_, index) => file(`${index}.tf`, 500))
    let turns = 0
    const timer = setInterval(() => (turns += 1), 1)
    await Array.fromAsync(zipBytes(files, read))
    clearInterval(timer)
    expect(turns).toBeGreaterThan(3)
  })
})
