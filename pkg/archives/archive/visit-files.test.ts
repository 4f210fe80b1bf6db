import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defaultLimits } from './entry.ts'
import { visitFiles } from './inspect-provider.ts'
import { tarOf, zipOf } from './packed.fixture.ts'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'depot-visit-'))
})
afterAll(() => rm(dir, { recursive: true }))

/** Paths and texts that a visitor of Markdown files gets. */
async function visited(bytes: Uint8Array, directory?: string) {
  const file = join(dir, 'archive')
  await writeFile(file, bytes)
  const found: Record<string, string> = {}
  const visit = (path: string) =>
    path.endsWith('.md')
      ? (chunk: Uint8Array) => (found[path] = Buffer.from(chunk).toString())
      : undefined
  await visitFiles({ file, limits: defaultLimits.module }, visit, directory)
  return found
}

const files = (prefix: string) => [
  { path: `${prefix}docs/index.md`, content: 'index' },
  { path: `${prefix}cmdb/docs/host.md`, content: 'host' },
  { path: `${prefix}main.go`, content: 'package main' },
]

it.each(['', 'repository-1.0.0/'])(
  'visits files below the folder "%s" that wraps all',
  async (prefix) => {
    const expected = { 'docs/index.md': 'index', 'cmdb/docs/host.md': 'host' }
    expect(await visited(gzipSync(await tarOf(files(prefix))))).toEqual(expected)
    expect(await visited(await zipOf(files(prefix)))).toEqual(expected)
    expect(await visited(await zipOf(files(prefix)), './cmdb/')).toEqual({ 'docs/host.md': 'host' })
    expect(await visited(await zipOf(files(prefix)), '../cmdb')).toEqual({})
  },
)

it('refuses names that lead out of the archive', async () => {
  const hostile = [{ path: '../docs/index.md', content: 'x' }]
  await expect(visited(await tarOf(hostile))).rejects.toMatchObject({ reason: 'UnsafeArchive' })
})
