import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { moduleLimits } from './entry.ts'
import { normaliseModule } from './module-archive.ts'
import { archiveFolder, type Packed, tarGzOf } from './packed.fixture.ts'

const { folder, normalise, remove } = archiveFolder()
afterAll(remove)

let count = 0
const next = (): string => join(folder, `next-${++count}`)

function folderOf(entries: readonly Packed[]): string {
  const dir = next()
  for (const { path, content = '', mode = 0o644, target } of entries) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    if (target !== undefined) symlinkSync(target, join(dir, path))
    else {
      writeFileSync(join(dir, path), content)
      chmodSync(join(dir, path), mode)
    }
  }
  return dir
}

const pack = (file: string, limits = moduleLimits) =>
  normaliseModule({ file, into: next(), format: 'tar.gz', limits })

const files: readonly Packed[] = [
  { path: 'main.tf', content: 'locals {}\n' },
  { path: 'modules/größe/main.tf', content: 'locals {}\n' },
  { path: 'scripts/run.sh', content: '#!/bin/sh\n', mode: 0o755 },
  { path: 'scripts/again.sh', target: 'run.sh' },
  { path: 'empty.txt' },
]

it('packs a folder into the same bytes as an archive of it', async () => {
  const { file: _, ...packed } = await pack(folderOf(files))
  const { file: __, ...archived } = await normalise(await tarGzOf(files), { format: 'tar.gz' })
  expect(packed).toEqual(archived)
})

it('leaves out history, installed providers and states, without reading their folders', async () => {
  const others = Array.from({ length: 20 }, (_, at) => ({ path: `.terraform/providers/${at}` }))
  const states = [{ path: 'terraform.tfstate' }, { path: '.git/HEAD' }]
  const { leftOut, sha256 } = await pack(folderOf([...files, ...others, ...states]), {
    ...moduleLimits,
    entries: 15,
  })
  expect(leftOut).toBe(1)
  expect(sha256).toBe((await pack(folderOf(files))).sha256)
})

it.each<[string, Packed[], Partial<typeof moduleLimits>, object]>([
  [
    'a link out of the folder',
    [{ path: 'a', target: '/etc/passwd' }],
    {},
    { reason: 'UnsafeArchive' },
  ],
  ['a name with a control character', [{ path: 'a\tb' }], {}, { reason: 'UnsafeArchive' }],
  ['too many entries', [], { entries: 3 }, { reason: 'ArchiveTooLarge' }],
  ['too many bytes', [], { unpackedBytes: 10 }, { reason: 'ArchiveTooLarge' }],
])('refuses a folder with %s', async (_, more, limits, error) => {
  const packing = pack(folderOf([...files, ...more]), { ...moduleLimits, ...limits })
  await expect(packing).rejects.toMatchObject(error)
})
