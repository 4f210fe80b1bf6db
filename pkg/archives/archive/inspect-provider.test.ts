import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { afterAll, expect, it, vi } from 'vitest'
import { collectGarbage } from '../../base/fast/garbage.fixture.ts'
import { inspectProvider } from './archive.ts'
import { archiveFolder, tarGzOf, zipOf } from './packed.fixture.ts'

const { file, remove } = archiveFolder()
afterAll(remove)

const files = [
  { path: 'terraform-provider-null_v3.2.1', content: 'the executable', mode: 0o755 },
  { path: 'LICENSE', content: 'free' },
  { path: 'docs/größe.md', content: 'text' },
  { path: 'docs/🚀.md', content: 'text' },
  { path: 'docs/～.md', content: 'text' },
]

/** The hash of golang.org/x/mod/sumdb/dirhash, implemented again in another language. */
const hash1 = `
import base64, hashlib, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
names = sorted((i.filename.encode() for i in z.infolist() if not i.is_dir()))
lines = b''.join(hashlib.sha256(z.read(n.decode())).hexdigest().encode() + b'  ' + n + b'\\n' for n in names)
print('h1:' + base64.b64encode(hashlib.sha256(lines).digest()).decode())`

it('computes both digests of lock files', async () => {
  const bytes = await zipOf([...files, { path: 'empty/' }])
  const path = file(bytes)
  const { stdout } = spawnSync('python3', ['-c', hash1, path], { encoding: 'utf8' })
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  expect(await inspectProvider({ file: path, type: 'null' })).toEqual({
    sha256,
    sizeBytes: bytes.length,
    h1: stdout.trim(),
    contentDigest: sha256,
  })
})

it.each([
  {
    what: 'of another provider',
    bytes: () => zipOf(files),
    type: 'random',
    reason: 'NoProviderInArchive',
    message:
      'the zip does not contain "terraform-provider-random*": it is not the archive of this provider',
  },
  {
    what: 'that is a tar',
    bytes: () => tarGzOf(files),
    type: 'null',
    reason: 'NotAnArchive',
    message: 'this is not a zip, and both CLIs install providers from zips only',
  },
  {
    what: 'with a link',
    bytes: () => zipOf([...files, { path: 'link', target: 'LICENSE' }]),
    type: 'null',
    reason: 'UnsafeArchive',
    message: '"link" is a link: pack the file instead',
  },
])('refuses an archive $what', async ({ bytes, type, reason, message }) => {
  const path = file(await bytes())
  await expect(inspectProvider({ file: path, type })).rejects.toMatchObject({ reason, message })
})

it('reads a large executable in pieces', async () => {
  const before = heldBytes()
  const path = await largeProvider()
  await vi.waitFor(() => expect(heldBytes() - before).toBeLessThan(5_000_000))
  let mostBytes = 0
  const watching = setInterval(() => {
    mostBytes = Math.max(mostBytes, heldBytes() - before)
  }, 10)
  await inspectProvider({ file: path, type: 'null' })
  clearInterval(watching)
  expect(mostBytes).toBeLessThan(20_000_000)
})

/** A separate function, so that nothing keeps a reference. */
async function largeProvider(): Promise<string> {
  const content = randomBytes(40_000_000)
  return file(await zipOf([{ path: 'terraform-provider-null', content }]))
}

/** Bytes of array buffers without uncollected garbage, which can stay long on a busy machine. */
function heldBytes(): number {
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}

it('stops when it is aborted', async () => {
  const path = file(await zipOf(files))
  const signal = AbortSignal.abort(new Error('called off'))
  await expect(inspectProvider({ file: path, type: 'null', signal })).rejects.toThrow('called off')
})
