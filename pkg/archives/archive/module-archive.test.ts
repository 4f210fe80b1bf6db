import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { archiveFolder, type Packed, tarGzOf, tarOf, zipOf } from './packed.fixture.ts'

const { folder, file, normalise, remove } = archiveFolder()
afterAll(remove)

const files: readonly Packed[] = [
  { path: 'main.tf', content: 'resource "null_resource" "one" {}\n' },
  { path: 'modules/größe/main.tf', content: 'locals {}\n' },
  { path: 'modules/empty.txt' },
  { path: 'scripts/run.sh', content: '#!/bin/sh\n', mode: 0o755 },
  { path: `${'deep/'.repeat(40)}file.txt`, content: 'deep' },
]
const wrapped = files.map((entry) => ({ ...entry, path: `acme-vpc-1a2b3c/${entry.path}` }))

/** Names, modes and content, as the tools of the system unpack them. */
function unpacked(path: string, format: 'zip' | 'tar.gz') {
  const script =
    format === 'zip'
      ? 'import sys,zipfile\nz=zipfile.ZipFile(sys.argv[1])\nfor i in z.infolist(): print(i.filename, oct(i.external_attr>>16), i.date_time, z.read(i))'
      : 'import sys,tarfile\nt=tarfile.open(sys.argv[1])\nfor i in t: print(i.name, oct(i.mode), i.mtime, i.uid, i.uname, t.extractfile(i).read())'
  const { stdout, stderr } = spawnSync('python3', ['-c', script, path], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout
}

describe('one content gives the same bytes', () => {
  it.each(['zip', 'tar.gz'] as const)('as %s, independent of the packing', async (format) => {
    const packed = await Promise.all([
      zipOf(files),
      zipOf(files.toReversed(), 'a comment'),
      zipOf([{ path: 'modules/' }, ...wrapped.map((f) => ({ ...f, path: f.path.slice(16) }))]),
      zipOf(wrapped),
      tarOf(files),
      tarGzOf(wrapped),
      tarGzOf(files.map((entry) => ({ ...entry, path: `./${entry.path}` }))),
    ])
    const results = []
    for (const bytes of packed) results.push(await normalise(bytes, { format }))
    expect(new Set(results.map(({ sha256 }) => sha256)).size).toBe(1)
    expect(new Set(results.map(({ contentDigest }) => contentDigest)).size).toBe(1)
    const [first] = results
    const bytes = readFileSync(first?.file ?? '')
    expect(first).toMatchObject({
      extension: `.${format}`,
      sizeBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      leftOut: 0,
    })
    expect(unpacked(first?.file ?? '', format)).toMatchSnapshot()
  })

  it('in every time zone', async () => {
    const packed = file(await zipOf(files))
    const digests = ['UTC', 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Kiritimati'].map((TZ) => {
      const script = `
        import { normaliseModule } from ${JSON.stringify(join(import.meta.dirname, 'archive.ts'))}
        const [file, into] = process.argv.slice(-2)
        for (const format of ['zip', 'tar.gz']) {
          console.log((await normaliseModule({ file, into: into + format, format })).sha256)
        }`
      const args = ['--input-type=module', '-e', script, packed, join(folder, TZ.replace('/', '-'))]
      const { stdout, stderr } = spawnSync(process.execPath, args, {
        env: { ...process.env, TZ },
        encoding: 'utf8',
      })
      expect(stderr).toBe('')
      return stdout
    })
    expect(digests[0]).toMatch(/^[0-9a-f]{64}\n[0-9a-f]{64}\n$/)
    expect(new Set(digests).size).toBe(1)
  })

  it('with a digest of files, modes and paths', async () => {
    const one = { path: 'main.tf', content: 'a' }
    const digest = async (...entries: Packed[]) =>
      (await normalise(await zipOf(entries))).contentDigest
    const hex = createHash('sha256').update('a').digest('hex')
    const tree = createHash('sha256').update(`${hex}  -  main.tf\n`).digest('base64')
    expect(await digest(one)).toBe(`tree1:${tree}`)
    const others = [
      await digest({ ...one, content: 'b' }),
      await digest({ ...one, mode: 0o755 }),
      await digest({ ...one, path: 'main.tofu' }),
      await digest(one, { path: 'empty' }),
    ]
    expect(new Set([...others, `tree1:${tree}`]).size).toBe(5)
  })
})

describe('the module', () => {
  it('has everything below the path', async () => {
    const packed = await tarGzOf(wrapped)
    const { file: module } = await normalise(packed, { path: './modules/größe/' })
    expect(unpacked(module, 'zip')).toMatch(/^main\.tf .*b'locals {}\\n'\n$/)
  })

  it('is found if the path names the directory that wraps everything', async () => {
    const packed = await tarGzOf([{ path: 'vpc-1.0/modules/a/main.tf', content: 'locals {}\n' }])
    for (const path of ['vpc-1.0/modules/a', 'modules/a']) {
      const { file: module } = await normalise(packed, { path })
      expect(unpacked(module, 'zip')).toMatch(/^main\.tf .*b'locals {}\\n'\n$/)
    }
  })

  it('is the whole archive if there is a file next to the directory', async () => {
    const packed = await zipOf([{ path: 'vpc/main.tf' }, { path: 'main.tf' }])
    expect(unpacked((await normalise(packed)).file, 'zip').split('\n')).toHaveLength(3)
  })

  it.each([
    {
      what: 'at the root',
      entries: [{ path: 'a/x.txt' }, { path: 'a/b/main.tf' }, { path: 'a/c.d/x.tofu.json' }],
      message:
        'there is no *.tf or *.tofu file at the root of the archive: publish a directory that has one, or set the path of the source to it, such as "b" or "c.d"',
    },
    {
      what: 'at the path',
      path: 'c',
      entries: [{ path: 'main.tf' }, { path: 'c/README.md' }],
      message:
        'there is no *.tf or *.tofu file in "c": set the path of the source to a directory that has one, such as "."',
    },
    {
      what: 'anywhere',
      entries: [{ path: 'main.tf.bak' }, { path: 'main.tfvars' }],
      message:
        'there is no *.tf or *.tofu file at the root of the archive: there is none anywhere in it: name the folder or the repository of a module',
    },
  ])('is not found $what', async ({ entries, path, message }) => {
    const normalising = normalise(await zipOf(entries), { path })
    await expect(normalising).rejects.toMatchObject({ reason: 'NoModuleAtRoot', message })
  })

  it('excludes history, installed providers and state', async () => {
    const packed = await zipOf([
      { path: 'main.tf', content: 'a' },
      { path: '.gitignore' },
      { path: '.terraform.lock.hcl' },
      { path: '.git/config' },
      { path: 'examples/.terraform/providers/link', target: '/root/plugins' },
      { path: 'terraform.tfstate' },
      { path: 'examples/a.tfstate.backup' },
    ])
    const { leftOut, file: module } = await normalise(packed)
    expect(leftOut).toBe(4)
    expect(unpacked(module, 'zip')).toMatch(
      /^\.gitignore .*\n\.terraform\.lock\.hcl .*\nmain\.tf .*\n$/,
    )
  })

  it.each([
    ['zip', zipOf],
    ['tar', tarOf],
  ] as const)('has copies instead of links of a %s', async (_, pack) => {
    const packed = await pack([
      { path: 'shared/versions.tf', content: 'terraform {}', mode: 0o755 },
      { path: 'vpc/main.tf', content: 'a' },
      { path: 'vpc/versions.tf', target: '../shared/versions.tf' },
      { path: 'vpc/again.tf', target: './versions.tf' },
    ])
    const { file: module } = await normalise(packed, { path: 'vpc' })
    expect(unpacked(module, 'zip').replaceAll(/ \(1980.*\) /g, ' ')).toBe(
      "again.tf 0o100755 b'terraform {}'\nmain.tf 0o100644 b'a'\nversions.tf 0o100755 b'terraform {}'\n",
    )
  })
})

describe.each(['zip', 'tar.gz'] as const)('%s', (format) => {
  it('leaves only the archive, and never overwrites a file', async () => {
    const packed = await zipOf(files)
    const into = join(folder, `normalised-${format}`)
    await normalise(packed, { into, format })
    const before = readFileSync(into)
    await expect(normalise(packed, { into, format })).rejects.toMatchObject({ code: 'EEXIST' })
    expect(readFileSync(into)).toEqual(before)
    const left = readdirSync(folder).filter((name) => name.startsWith(basename(into)))
    expect(left).toEqual([basename(into)])
  })

  it.each([0, 1, 5, 20, 50, 100])(
    'leaves nothing behind when it is aborted after %i ms',
    async (ms) => {
      const controller = new AbortController()
      const packed = await zipOf([
        { path: 'main.tf', content: randomBytes(6_000_000) },
        ...files.slice(1),
      ])
      const into = join(folder, `aborted-${format}-${ms}`)
      const normalising = normalise(packed, { into, format, signal: controller.signal })
      setTimeout(() => controller.abort(new Error('called off')), ms)
      const done = await normalising.then(
        () => true,
        () => false,
      )
      expect(existsSync(into)).toBe(done)
    },
  )
})
