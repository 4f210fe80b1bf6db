import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { GitServer } from '../../../hack/testbed/upstream/git.ts'
import { createUpstreamAuthority } from '../../../hack/testbed/upstream/https-server.ts'
import { normaliseModule } from '../../archives/archive/archive.ts'
import { fetching, type LocalSources, localSources } from './sources.fixture.ts'

const authority = createUpstreamAuthority()
const { signal } = new AbortController()
const path = process.env['PATH']
let server: GitServer
let local: LocalSources
let dir: string

beforeAll(async () => {
  server = await GitServer.start(authority)
})
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'depot-hostile-git-'))
  local = await localSources(authority, [server.host])
  // Every program that git might start records its name.
  mkdirSync(join(dir, 'bin'))
  for (const program of ['gpg', 'ssh-keygen', 'gpgsm', 'git-lfs', 'ssh', 'sh-evil']) {
    const script = `#!/bin/sh\necho ${program} >> ${join(dir, 'ran')}\nexit 0\n`
    writeFileSync(join(dir, 'bin', program), script, { mode: 0o755 })
  }
  process.env['PATH'] = `${join(dir, 'bin')}:${path}`
})
afterEach(async () => {
  process.env['PATH'] = path
  await local.close()
  rmSync(dir, { recursive: true, force: true })
})
afterAll(async () => {
  await server.close()
  authority.remove()
})

/** Writes a raw tree and commit into a repository, which `git add` could not create. */
function forge(repository: string, tree: string, header = ''): void {
  const git = (input: string, ...args: readonly string[]) =>
    execFileSync('git', [`--git-dir=${server.pathOf(repository)}`, ...args], {
      input,
      encoding: 'utf8',
    }).trim()
  const blob = git('text\n', 'hash-object', '-w', '--stdin')
  const list = tree.replaceAll('BLOB', blob)
  const made = git(list, 'mktree', '--missing')
  const who = 'x <x@example.com> 1700000000 +0000'
  const text = `tree ${made}\nauthor ${who}\ncommitter ${who}\n${header}\nforged\n`
  const commit = git(text, 'hash-object', '-w', '-t', 'commit', '--literally', '--stdin')
  git('', 'update-ref', 'refs/tags/v1.0.0', commit)
}

const signatureOf = (kind: string) => `gpgsig -----BEGIN ${kind}-----
 
 iQEzBAABCAAdFiEE
 -----END ${kind}-----
`

/** The files in the archive of v1.0.0, by name. */
async function fetched(repository: string): Promise<Record<string, string>> {
  const source = local.sources.module(
    { source: { type: 'git', url: server.urlOf(repository) } },
    'team',
  )
  const resolved = await source.resolve('1.0.0', { signal })
  const { file } = await source.fetch(resolved, fetching)
  try {
    const into = join(dir, 'module.tar.gz')
    await normaliseModule({ file: file.path, into, format: 'tar.gz', path: undefined, signal })
    mkdirSync(join(dir, 'out'))
    execFileSync('tar', ['-xzf', into, '-C', join(dir, 'out')])
    const names = execFileSync('tar', ['-tzf', into], { encoding: 'utf8' }).trim().split('\n')
    return Object.fromEntries(
      names.map((name) => [name, readFileSync(join(dir, 'out', name), 'utf8')]),
    )
  } finally {
    await file.remove()
  }
}

const ran = () => existsSync(join(dir, 'ran')) && readFileSync(join(dir, 'ran'), 'utf8')

describe('a hostile repository', () => {
  it.each(['PGP SIGNATURE', 'SSH SIGNATURE', 'SIGNED MESSAGE'])(
    'starts no program for filters, large files and a %s',
    async (kind) => {
      const files = {
        'main.tf': 'locals {}\n',
        '.gitattributes': '* filter=lfs diff=evil merge=evil export-subst\n',
        '.lfsconfig': '[lfs]\n  url = https://localhost:1\n',
        '.gitconfig': '[filter "lfs"]\n  smudge = sh-evil\n',
        'large.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n',
        'signed.txt': '$Format:%G? %GS %GG$\n',
        'hooks/post-checkout': '#!/bin/sh\nsh-evil\n',
      }
      server.tag('attributes', 'v1.0.0', files)
      const git = (...args: readonly string[]) =>
        execFileSync('git', [`--git-dir=${server.pathOf('attributes')}`, ...args], {
          encoding: 'utf8',
        })
      forge('attributes', git('ls-tree', 'v1.0.0'), signatureOf(kind))
      const found = await fetched('attributes')
      expect(ran()).toBe(false)
      expect(found['large.bin']).toBe(files['large.bin'])
      expect(Object.keys(found)).not.toContain('.git/config')
    },
  )

  it('does not fetch submodules', async () => {
    server.tag('modules', 'v1.0.0', { 'main.tf': 'locals {}\n' })
    const gitmodules = `[submodule "x"]\n  path = x\n  url = ${server.urlOf('private')}\n`
    server.tag('modules', 'v1.0.0', { 'main.tf': 'locals {}\n', '.gitmodules': gitmodules })
    const before = server.seen.length
    expect(Object.keys(await fetched('modules'))).toContain('main.tf')
    expect(server.seen.slice(before).filter(({ url }) => url.includes('private'))).toEqual([])
  })

  it.each([
    ['a link that leaves it', '120000 blob BLOB\tlink\n100644 blob BLOB\tmain.tf\n'],
    ['a folder named .git', '100644 blob BLOB\t.git\n100644 blob BLOB\tmain.tf\n'],
    ['a folder named .GIT', '100644 blob BLOB\t.GIT\n100644 blob BLOB\tmain.tf\n'],
    ['a name that leads above', '100644 blob BLOB\t..\n100644 blob BLOB\tmain.tf\n'],
    ['two names that differ in case', '100644 blob BLOB\tMAIN.tf\n100644 blob BLOB\tmain.tf\n'],
  ])('is refused for %s', async (_, tree) => {
    server.tag('tree', 'v1.0.0', { 'main.tf': '' })
    forge('tree', tree)
    const refused = fetched('tree')
    await expect(refused).rejects.toMatchObject({
      message: expect.stringMatching(/^[^\p{Cc}\p{Cf}]{1,256}$/u) as unknown,
    })
    expect(existsSync(join(dir, 'out'))).toBe(false)
  })

  it('cannot name a tag that git reads as an option', async () => {
    server.tag('tags', 'v1.0.0', { 'main.tf': '' })
    const refs = join(server.pathOf('tags'), 'refs/tags')
    const commit = readFileSync(join(refs, 'v1.0.0'), 'utf8')
    for (const name of ['--upload-pack=sh-evil', '-1.0.0', '--output=x']) {
      writeFileSync(join(refs, name), commit)
    }
    const source = local.sources.module(
      { source: { type: 'git', url: server.urlOf('tags'), tagPrefix: '-' } },
      'team',
    )
    const { versions } = await source.list({ signal })
    expect(versions.filter(({ ref }) => ref.startsWith('-'))).toEqual([])
    await expect(source.resolve('1.0.0', { signal })).rejects.toMatchObject({
      reason: 'UpstreamNotFound',
    })
    expect(ran()).toBe(false)
  })
})
