import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import type { Reason } from '../../base/errors/errors.ts'
import { ArchiveError, inspectProvider, normaliseModule } from './archive.ts'
import { archiveFolder, type Packed, tarOf, zipOf } from './packed.fixture.ts'
import { paxHeader, type RawTarEntry, rawTar } from './raw-tar.fixture.ts'
import { descriptor, type RawEntry, rawZip } from './raw-zip.fixture.ts'

interface Hostile {
  readonly what: string
  readonly bytes: () => Buffer | Promise<Buffer>
  readonly reason: Reason
}

const main = { name: 'main.tf' }
const content = Buffer.from('resource "null_resource" "one" {}\n'.repeat(20))

const badNames: readonly (string | Buffer)[] = [
  '../evil.tf',
  'a/../../evil.tf',
  'a/..',
  '..',
  '/etc/cron.d/evil',
  '//host/share',
  '/',
  './/etc/evil',
  'C:evil.tf',
  'C:/evil.tf',
  'a/c:/evil.tf',
  'a\\..\\..\\evil.tf',
  '\\\\host\\share',
  'a//b.tf',
  'a/./b.tf',
  './../evil.tf',
  'new\nline.tf',
  'escape\u001b[2J.tf',
  'delete\u007f.tf',
  'next\u0085line.tf',
  'separator\u2028.tf',
  Buffer.from([0x61, 0xff, 0x2e, 0x74, 0x66]),
  Buffer.from('overlong\xc0\xae\xc0\xae/evil', 'latin1'),
  `${'long/'.repeat(210)}evil.tf`,
]

const twins: readonly (readonly [string, string])[] = [
  ['a.tf', 'a.tf'],
  ['a.tf', 'A.tf'],
  ['a/one.tf', 'A/two.tf'],
  ['caf\u00e9.tf', 'cafe\u0301.tf'],
  ['\u212a.tf', 'k.tf'],
  ['a', 'a/b.tf'],
  ['a/b/c.tf', 'a/b'],
  ['a/b.tf', 'a-b'],
]

const links: readonly (readonly [string, string])[] = [
  ['a.tf', '/etc/passwd'],
  ['a.tf', '../../etc/passwd'],
  ['a.tf', 'b/../../../x'],
  ['a.tf', 'nothing.tf'],
  ['a.tf', 'a.tf'],
  ['a.tf', '.'],
  ['a.tf', 'modules'],
  ['a.tf', '.git/config'],
  ['a.tf', ''],
  ['a.tf', '..\\main.tf'],
]

const tree: readonly Packed[] = [
  { path: 'main.tf', content },
  { path: 'modules/x/main.tf' },
  { path: '.git/config' },
]

const longName = (name: string | Buffer): readonly RawTarEntry[] =>
  Buffer.byteLength(name) <= 100
    ? [{ name }]
    : [{ name: '././@LongLink', type: 'L', content: Buffer.from(name) }, { name: 'cut' }]

const named: Hostile[] = badNames.flatMap((name) => [
  {
    what: `a zip with the name ${JSON.stringify(String(name))}`,
    bytes: () => rawZip([main, { name }]),
    reason: 'UnsafeArchive' as const,
  },
  {
    what: `a tar with the name ${JSON.stringify(String(name))}`,
    bytes: () => rawTar([main, ...longName(name)]),
    reason: 'UnsafeArchive' as const,
  },
])

const twinned: Hostile[] = twins
  .filter(([one, two]) => !(one === 'a/b.tf' && two === 'a-b'))
  .flatMap(([one, two]) => [
    {
      what: `a zip with ${JSON.stringify([one, two])}`,
      bytes: () => rawZip([main, { name: one }, { name: two }]),
      reason: 'UnsafeArchive' as const,
    },
    {
      what: `a tar with ${JSON.stringify([one, two])}`,
      bytes: () => rawTar([{ name: two }, main, { name: one }]),
      reason: 'UnsafeArchive' as const,
    },
  ])

const linked: Hostile[] = links.flatMap(([path, target]) => [
  {
    what: `a zip with a link to ${JSON.stringify(target)}`,
    bytes: () => zipOf([...tree, { path, target }]),
    reason: 'UnsafeArchive' as const,
  },
  {
    what: `a tar with a link to ${JSON.stringify(target)}`,
    bytes: () => tarOf([...tree, { path, target }]),
    reason: 'UnsafeArchive' as const,
  },
])

const chain = Array.from({ length: 12 }, (_, index) => ({
  path: `link-${index}`,
  target: index === 0 ? 'main.tf' : `link-${index - 1}`,
}))

const zip = (
  what: string,
  reason: Reason,
  entries: readonly RawEntry[],
  end?: Parameters<typeof rawZip>[1],
): Hostile => ({ what: `a zip ${what}`, reason, bytes: () => rawZip(entries, end) })
const one = { name: 'main.tf', content }
const packed = deflateRawSync(content)
const unicodePath = Buffer.concat([
  Buffer.from([0x75, 0x70, 5 + 7, 0, 1, 0, 0, 0, 0]),
  Buffer.from('evil.tf'),
])

const zips: Hostile[] = [
  zip('with bytes before its first entry', 'UnsafeArchive', [one], {
    before: Buffer.from('PK\x03\x04hidden', 'latin1'),
  }),
  zip('with bytes behind its last entry', 'UnsafeArchive', [one], { gap: Buffer.from('hidden') }),
  zip('with bytes behind its directory', 'UnsafeArchive', [one], {
    behindDirectory: Buffer.alloc(90),
  }),
  zip('with bytes after its end', 'NotAnArchive', [one], { after: Buffer.from('hidden') }),
  zip('with bytes between entries', 'UnsafeArchive', [
    { ...one, after: Buffer.from('hidden') },
    { name: 'b' },
  ]),
  zip('with a wrong CRC', 'NotAnArchive', [{ ...one, both: { crc: 1 } }]),
  zip('with a CRC that differs', 'UnsafeArchive', [{ ...one, local: { crc: 1 } }]),
  zip('with two names', 'UnsafeArchive', [{ ...one, local: { name: 'evil.tf' } }]),
  zip('with a longer second name', 'UnsafeArchive', [{ ...one, local: { name: '../../evil.tf' } }]),
  zip('with two sizes', 'UnsafeArchive', [{ ...one, local: { sizeBytes: 1 } }]),
  zip('with two packed sizes', 'UnsafeArchive', [{ ...one, local: { packedBytes: 1 } }]),
  zip('with two methods', 'UnsafeArchive', [{ ...one, local: { method: 0 } }]),
  zip('with a name in an extra field', 'UnsafeArchive', [{ ...one, both: { extra: unicodePath } }]),
  zip('that says less than it holds', 'NotAnArchive', [{ ...one, both: { sizeBytes: 10 } }]),
  zip('that says more than it holds', 'NotAnArchive', [{ ...one, both: { sizeBytes: 10_000 } }]),
  zip('with a password', 'Encrypted', [{ ...one, both: { flags: 1 } }]),
  zip('with strong encryption', 'Encrypted', [{ ...one, both: { flags: 0x41 } }]),
  zip('with a hidden directory', 'Encrypted', [{ ...one, both: { flags: 0x2000 } }]),
  zip('with another method', 'NotAnArchive', [{ ...one, both: { method: 9 } }]),
  zip('with bytes behind the data of an entry', 'NotAnArchive', [
    { ...one, data: Buffer.concat([packed, Buffer.from('hidden')]) },
  ]),
  zip('with cut data', 'NotAnArchive', [{ ...one, data: packed.subarray(0, 20) }]),
  zip('with entries that share their data', 'UnsafeArchive', [
    one,
    { ...one, name: 'b.tf', centralOnly: true, central: { offset: 0 } },
  ]),
  zip('with an entry inside of another', 'UnsafeArchive', [
    { name: 'a', method: 0, content: rawZip([main]) },
    { ...main, centralOnly: true, central: { offset: 31 } },
  ]),
  zip('with an entry that is elsewhere', 'UnsafeArchive', [
    { ...one, central: { offset: 4_000_000 } },
  ]),
  zip('that counts fewer entries', 'UnsafeArchive', [one, { name: 'b' }], { count: 1 }),
  zip('that counts more entries', 'NotAnArchive', [one], { count: 2 }),
  zip('with another size of its directory', 'UnsafeArchive', [one], { directoryBytes: 10 }),
  zip('with a directory that is elsewhere', 'NotAnArchive', [one], { offset: 3 }),
  zip('with a wrong descriptor', 'UnsafeArchive', [
    { ...one, both: { flags: 8 }, after: descriptor(Buffer.from('other')) },
  ]),
  zip('with a directory that has content', 'UnsafeArchive', [{ ...one }, { name: 'b/', content }]),
  zip('with a directory without a slash', 'UnsafeArchive', [
    one,
    { name: 'b', central: { mode: 0o040755 } },
  ]),
  zip('with a device', 'UnsafeArchive', [one, { name: 'b', central: { mode: 0o020644 } }]),
  zip('with a pipe', 'UnsafeArchive', [one, { name: 'b', central: { mode: 0o010644 } }]),
  zip('with a link that is too long', 'UnsafeArchive', [
    one,
    { name: 'b', content: Buffer.alloc(5000, 'a'), central: { mode: 0o120777 } },
  ]),
  zip('that says it unpacks to 4 GB', 'ArchiveTooLarge', [
    { ...one, both: { sizeBytes: 4_000_000_000 } },
  ]),
  zip('that unpacks to 1000 times its size', 'ArchiveTooLarge', [
    { name: 'main.tf', content: Buffer.alloc(12_000_000) },
  ]),
  zip(
    'with 10,001 entries',
    'ArchiveTooLarge',
    Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}.tf` })),
  ),
  zip('that says it has 65,535 entries', 'ArchiveTooLarge', [one], { count: 65_535 }),
]

const tar = (
  what: string,
  reason: Reason,
  entries: readonly RawTarEntry[],
  end?: Buffer<ArrayBuffer>,
): Hostile => ({ what: `a tar ${what}`, reason, bytes: () => rawTar(entries, end) })

const tars: Hostile[] = [
  tar('with a hard link', 'UnsafeArchive', [main, { name: 'b', type: '1', target: 'main.tf' }]),
  tar('with a device', 'UnsafeArchive', [main, { name: 'b', type: '3' }]),
  tar('with a block device', 'UnsafeArchive', [main, { name: 'b', type: '4' }]),
  tar('with a pipe', 'UnsafeArchive', [main, { name: 'b', type: '6' }]),
  tar('with a sparse file', 'UnsafeArchive', [main, { name: 'b', type: 'S' }]),
  tar('with a sparse file of the newer kind', 'UnsafeArchive', [
    paxHeader({ 'GNU.sparse.major': '1' }),
    main,
  ]),
  tar('with a type that nobody knows', 'UnsafeArchive', [main, { name: 'b', type: 'Z' }]),
  tar('with a second name in its attributes', 'UnsafeArchive', [
    paxHeader({ path: '../evil.tf' }),
    main,
  ]),
  tar('with a link in its attributes', 'UnsafeArchive', [
    main,
    paxHeader({ linkpath: '/etc/passwd' }),
    { name: 'b', type: '2', target: 'main.tf' },
  ]),
  tar('with a size that is not a number', 'NotAnArchive', [paxHeader({ size: 'x' }), main]),
  tar('with a negative size', 'NotAnArchive', [paxHeader({ size: '-1' }), main]),
  tar('with a wrong sum', 'NotAnArchive', [main, { name: 'b', breakSum: true }]),
  tar('of an unknown kind', 'NotAnArchive', [main, { name: 'b', magic: 'other' }]),
  tar('without an end', 'NotAnArchive', [main], Buffer.alloc(0)),
  tar('that is cut', 'NotAnArchive', [{ ...main, content: Buffer.alloc(600), sizeBytes: 6000 }]),
  tar(
    'with bytes after its end',
    'NotAnArchive',
    [main],
    Buffer.concat([Buffer.alloc(1024), randomBytes(512)]),
  ),
  tar('that says it unpacks to 8 GB', 'ArchiveTooLarge', [{ ...main, sizeBytes: 8_000_000_000 }]),
  tar(
    'with 10,001 entries',
    'ArchiveTooLarge',
    Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}.tf` })),
  ),
  tar(
    'with endless attributes',
    'NotAnArchive',
    Array.from({ length: 12 }, () => ({
      name: 'x',
      type: 'x',
      content: Buffer.alloc(1_000_000, 'a'),
    })),
  ),
  tar('with an attribute of 5 MB', 'NotAnArchive', [
    { name: 'x', type: 'x', content: Buffer.alloc(5_000_000, 'a') },
    main,
  ]),
  tar('with 20 MB of nothing at its end', 'NotAnArchive', [main], Buffer.alloc(20_000_000)),
]

const gzips: Hostile[] = [
  {
    what: 'a gzip with bytes after its end',
    reason: 'NotAnArchive',
    bytes: () => Buffer.concat([gzipSync(rawTar([main])), Buffer.from('hidden')]),
  },
  {
    what: 'a gzip that is cut',
    reason: 'NotAnArchive',
    bytes: () => gzipSync(rawTar([{ ...main, content: randomBytes(5000) }])).subarray(0, 4000),
  },
  {
    what: 'a gzip with a wrong CRC',
    reason: 'NotAnArchive',
    bytes: () => {
      const bytes = gzipSync(rawTar([main]))
      bytes.writeUInt32LE(1, bytes.length - 8)
      return bytes
    },
  },
  { what: 'a gzip of text', reason: 'NotAnArchive', bytes: () => gzipSync('text'.repeat(1000)) },
  { what: 'a gzip of a zip', reason: 'NotAnArchive', bytes: () => gzipSync(rawZip([main])) },
  {
    what: 'a gzip that unpacks to 1000 times its size',
    reason: 'ArchiveTooLarge',
    bytes: () => gzipSync(rawTar([{ ...main, content: Buffer.alloc(30_000_000) }])),
  },
]

const others: Hostile[] = [
  { what: 'nothing', reason: 'NotAnArchive', bytes: () => Buffer.alloc(0) },
  {
    what: 'a web page',
    reason: 'NotAnArchive',
    bytes: () => Buffer.from('<!DOCTYPE html><html>Sign in</html>'),
  },
  {
    what: 'an error in JSON',
    reason: 'NotAnArchive',
    bytes: () => Buffer.from('{"error":"not found"}'),
  },
  {
    what: 'random bytes',
    reason: 'NotAnArchive',
    bytes: () => Buffer.concat([Buffer.from('x'), randomBytes(10_000)]),
  },
  {
    what: 'a zip without its end',
    reason: 'NotAnArchive',
    bytes: () => rawZip([one]).subarray(0, -30),
  },
  {
    what: 'a chain of 12 links',
    reason: 'UnsafeArchive',
    bytes: () => zipOf([{ path: 'main.tf' }, ...chain]),
  },
  {
    what: 'a circle of links',
    reason: 'UnsafeArchive',
    bytes: () =>
      zipOf([{ path: 'main.tf' }, { path: 'a', target: 'b' }, { path: 'b', target: 'a' }]),
  },
  {
    what: 'links whose copies are 600 MB',
    reason: 'ArchiveTooLarge',
    bytes: () =>
      zipOf([
        { path: 'main.tf', content: randomBytes(1_000_000) },
        ...Array.from({ length: 600 }, (_, index) => ({
          path: `link-${index}`,
          target: 'main.tf',
        })),
      ]),
  },
]

const hostile = [...named, ...twinned, ...linked, ...zips, ...tars, ...gzips, ...others]

describe(`${hostile.length} hostile archives`, () => {
  const { folder, file, remove } = archiveFolder()
  afterAll(remove)

  it.each(hostile)('refuses $what', async ({ bytes, reason }) => {
    const path = file(await bytes())
    const into = `${path}.normalised`
    const before = listing(folder)
    const refused = await normaliseModule({ file: path, into, format: 'tar.gz' }).catch(
      (error: unknown) => error,
    )
    expect(refused).toBeInstanceOf(ArchiveError)
    expect(refused).toMatchObject({ reason })
    const { message } = refused as ArchiveError
    expect(message.length).toBeLessThanOrEqual(256)
    expect(message).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]+$/u)
    // Nothing is written, neither next to the archive nor at the path of a name.
    expect(listing(folder)).toEqual(before)
    expect(existsSync(join(dirname(folder), 'evil.tf'))).toBe(false)
  })

  it.each([...named, ...twinned, ...zips].filter(({ what }) => what.startsWith('a zip')))(
    'refuses $what as a provider, too',
    async ({ what, bytes }) => {
      const path = file(await bytes())
      const inspecting = inspectProvider({ file: path, type: 'null' })
      await expect(inspecting).rejects.toBeInstanceOf(ArchiveError)
      expect(what).not.toBe('')
    },
  )
})

describe('archives that only look suspicious', () => {
  const { file, normalise, remove } = archiveFolder()
  afterAll(remove)

  it.each([
    { what: 'a descriptor', after: descriptor(content) },
    { what: 'a descriptor without a signature', after: descriptor(content, { signed: false }) },
    { what: 'a descriptor of 64 bits', after: descriptor(content, { large: true }) },
  ])('may be a zip with $what', async ({ after }) => {
    const local = { crc: 0, packedBytes: 0, sizeBytes: 0 }
    const bytes = rawZip([{ ...one, both: { flags: 0x808 }, local, after }, { name: 'b' }])
    expect(await normalise(bytes)).toMatchObject({ leftOut: 0 })
  })

  it('may have names with the same prefix', async () => {
    const entries = ['a/b.tf', 'a-b', 'a.b', 'A!', 'straße', 'main.tf'].map((name) => ({ name }))
    expect(await normalise(rawZip(entries))).toMatchObject({ leftOut: 0 })
    expect(await normalise(rawTar([{ name: './', type: '5' }, ...entries]))).toMatchObject({
      leftOut: 0,
    })
  })

  it('may be as large as the limits', async () => {
    const entries = Array.from({ length: 9_999 }, (_, index) => ({ name: `${index}.tf` }))
    expect(await normalise(rawZip([main, ...entries]))).toMatchObject({ leftOut: 0 })
  })

  it('may have links through nine others, but not through more', async () => {
    const chained = (count: number) => zipOf([{ path: 'main.tf' }, ...chain.slice(0, count)])
    expect(await normalise(await chained(10))).toMatchObject({ leftOut: 0 })
    await expect(normalise(await chained(11))).rejects.toMatchObject({ reason: 'UnsafeArchive' })
  })

  it('may have a path of at most 1,024 bytes', async () => {
    const path = (bytes: number) => 'main.tf'.padStart(bytes, 'long/')
    const archive = (bytes: number) => rawZip([main, { name: path(bytes) }])
    expect(await normalise(archive(1024))).toMatchObject({ leftOut: 0 })
    await expect(normalise(archive(1025))).rejects.toMatchObject({ reason: 'UnsafeArchive' })
  })

  it.each([
    { what: 'a module', mebibytes: 100, read: normaliseFile },
    { what: 'a provider', mebibytes: 2048, read: inspectFile },
  ])('may be $what of at most $mebibytes MiB, packed', async ({ mebibytes, read }) => {
    const path = file(Buffer.alloc(0))
    truncateSync(path, mebibytes * 2 ** 20 + 1)
    await expect(read(path)).rejects.toMatchObject({ reason: 'ArchiveTooLarge' })
    // The right size, but only zeros.
    truncateSync(path, mebibytes * 2 ** 20)
    await expect(read(path)).rejects.toMatchObject({ reason: 'NotAnArchive' })
    truncateSync(path, 0)
  })

  it.each([
    { what: 'a module that unpacks to 500 MiB', more: 0, reason: 'NotAnArchive' },
    { what: 'a module that unpacks to more', more: 1, reason: 'ArchiveTooLarge' },
  ])('$what is $reason, because its header promises too much', async ({ more, reason }) => {
    const data = randomBytes(3_000_000)
    const both = { sizeBytes: 500 * 2 ** 20 + more }
    const path = file(rawZip([{ name: 'main.tf', content: data, both }]))
    await expect(normaliseFile(path)).rejects.toMatchObject({ reason })
  })

  it('may be tars of several gzip members', async () => {
    const bytes = rawTar([{ ...main, content: randomBytes(2000) }])
    const members = [gzipSync(bytes.subarray(0, 700)), gzipSync(bytes.subarray(700))]
    expect(await normalise(Buffer.concat(members))).toMatchObject({ leftOut: 0 })
  })

  it('is refused if it is larger than allowed', async () => {
    const path = file(rawZip([{ ...main, content: randomBytes(3000) }]))
    const limits = {
      kind: 'module' as const,
      packedBytes: 1000,
      unpackedBytes: 1e9,
      entries: 10,
      ratio: 10,
      ratioAboveBytes: 1e9,
      pathBytes: 10,
    }
    const normalising = normaliseModule({ file: path, into: `${path}.n`, format: 'zip', limits })
    await expect(normalising).rejects.toMatchObject({ reason: 'ArchiveTooLarge' })
  })
})

const listing = (folder: string): string[] => readdirSync(folder, { recursive: true }).map(String)

const normaliseFile = (path: string) =>
  normaliseModule({ file: path, into: `${path}.normalised`, format: 'zip' })
const inspectFile = (path: string) => inspectProvider({ file: path, type: 'null' })
