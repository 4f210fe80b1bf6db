import { createHash, randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { packZip } from './module-archive.ts'
import type { TreeFile } from './tree.ts'

const folder = mkdtempSync(join(tmpdir(), 'depot-packing-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Reproducible bytes with noise, text and zeros next to each other. */
function contentOf(seed: string, sizeBytes: number): Buffer {
  const noise = createHash('shake256', { outputLength: Math.max(1, sizeBytes) })
    .update(seed)
    .digest()
  const text = Buffer.alloc(sizeBytes, `resource "null_resource" "${seed}" {}\n`)
  const third = Math.floor(sizeBytes / 3)
  return Buffer.concat([noise.subarray(0, third), text.subarray(third, 2 * third)], sizeBytes)
}

const file = (path: string, sizeBytes: number, executable = false): TreeFile => ({
  path,
  executable,
  start: sizeBytes,
  sizeBytes,
})

/** The offset of a file tells its true size. */
async function* read({ path, start }: TreeFile): AsyncGenerator<Buffer> {
  const content = contentOf(path, start)
  for (let at = 0; at < content.length; at += 100_000) yield content.subarray(at, at + 100_000)
}

async function packed(files: readonly TreeFile[]): Promise<string> {
  const into = join(folder, randomUUID())
  const { sha256, sizeBytes } = await packZip({ files, read, into, signal: undefined })
  expect(sizeBytes).toBe(statSync(into).size)
  return sha256
}

const sizes = [0, 1, 100, 8_191, 65_535, 65_536, 262_143, 262_144, 262_145, 300_000, 2_000_000]

/** A published archive keeps its digest. Different bytes would be a changed version. */
describe('a zip', () => {
  it.each([
    ['no files', [], '8739c76e681f900923b900c9df0ef75cf421d39cabb54650c4b9ad19b6a76d85'],
    [
      'files of every size',
      sizes.map((size) => file(`files/${size}.tf`, size, size % 2 === 0)),
      '9ecb96209761c779b4698f342311028759faec35e8516d90f591e8c7304ab5cf',
    ],
    [
      'many small files',
      Array.from({ length: 500 }, (_, i) => file(`${i}/größe.tf`, i % 700)),
      'e2c8234f7922e9ce5b4010196f7fe00897c9a474d0f5578f5e36ceb8d990bf7b',
    ],
    [
      'long names',
      Array.from({ length: 200 }, (_, i) => file(`${'d/'.repeat(400)}${i}.tf`, i)),
      'edb932c38794091c400c220bbdbc7c5b5f5773b4b44412f9855805ec3d5173dd',
    ],
  ])('of %s has the same bytes as in earlier releases', async (_, files, sha256) => {
    expect(await packed(files)).toBe(sha256)
  })

  it('is removed if a file does not have the announced size', async () => {
    const before = readdirSync(folder)
    await expect(packed([{ ...file('main.tf', 100), sizeBytes: 99 }])).rejects.toThrow('bytes')
    expect(readdirSync(folder)).toEqual(before)
  })

  it('is removed if a file cannot be read, or the caller stops waiting', async () => {
    const files = [file('a.tf', 1), file('main.tf', 100)]
    const into = join(folder, 'unread')
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(1)
      throw new Error('the disk is gone')
    }
    const failing = packZip({ files, read: broken, into, signal: undefined })
    await expect(failing).rejects.toThrow('the disk is gone')
    const leaving = new AbortController()
    let isClosed = false
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        leaving.abort()
        for (;;) yield Buffer.alloc(100)
      } finally {
        isClosed = true
      }
    }
    const left = packZip({ files, read: endless, into, signal: leaving.signal })
    await expect(left).rejects.toThrow('aborted')
    await expect.poll(() => isClosed).toBe(true)
    expect(statSync(into, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('yields to other work while it is written', async () => {
    const files = Array.from({ length: 3_000 }, (_, index) => file(`${index}.tf`, 500))
    let turns = 0
    const timer = setInterval(() => (turns += 1), 1)
    await packed(files)
    clearInterval(timer)
    expect(turns).toBeGreaterThan(3)
  })
})
