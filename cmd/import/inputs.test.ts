import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importCommand, parseOptions } from '../../pkg/base/options/options.ts'
import { readInputs } from './inputs.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-inputs-'))
const files = {
  file: '',
  'list.txt': '# Nothing yet.\n\n',
  'twice.txt': 'registry.example.com/a/b/c # A module.\n\nregistry.example.com/a/b/c\n',
  'broken.yaml': '{{{',
  'two.yaml': 's3: {bucket: a, region: b}\ngcs: {bucket: c}\n',
  'huge.txt': '',
}

beforeAll(() => {
  mkdirSync(join(dir, 'empty'))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content)
  truncateSync(join(dir, 'huge.txt'), 20 * 1024 ** 2)
})
afterAll(() => rmSync(dir, { recursive: true }))

/** Reads a command line. DIR is the folder of these tests. */
async function inputs(line: string, token?: string) {
  const words = line.split(' ').filter((word) => word !== '')
  const env = { DEPOT_ARCHIVES: 'DIR/archives', DEPOT_MANIFESTS: 'DIR/manifests' }
  const parsed = parseOptions(
    importCommand,
    words.map((word) => word.replace('DIR', dir)),
    Object.fromEntries(Object.entries(env).map(([key, path]) => [key, path.replace('DIR', dir)])),
  )
  if (parsed.kind !== 'options') throw new Error(`${line} asks for ${parsed.kind}`)
  return readInputs(parsed.options, token, parsed.operands)
}

describe('reports a mistake before it starts:', () => {
  it.each([
    ['', 'name a SOURCE, or a file with --list'],
    ['--list DIR/missing.txt', '--list: the file DIR/missing.txt does not exist'],
    ['--list DIR/empty', '--list: DIR/empty is a folder; name a file'],
    ['--list DIR/list.txt', '--list: DIR/list.txt names no source; write one on each line'],
    [
      '--list DIR/huge.txt',
      '--list: DIR/huge.txt has 20971520 bytes, more than 16 MiB; is it the right file?',
    ],
    ['DIR/missing', 'missing" is not a folder'],
    ['DIR/file', 'file" is not a folder'],
    [
      'http://registry.example.com/a/b/c',
      'is not a source: write HOST/NAMESPACE/NAME/SYSTEM for a module',
    ],
    ['git::ssh://git@example.com/x', 'is not a repository: write git::https://HOST/REPOSITORY'],
    ['git::https://user:secret@example.com/x', '"git::https://example.com/x" is not a repository'],
    ['git::https://example.com/x', 'set --namespace, --name and --system'],
    [
      '--namespace a --name b --system c git::https://example.com/x git::https://example.com/y',
      '2 repositories are named, and --name is for one module. Import one after the other',
    ],
    ['--name b --system c DIR/empty', '--name and --system are for the tags of a repository'],
    ['--tag-prefix v DIR/empty', '--tag-prefix is for the tags of a repository'],
    ['--name b DIR/empty', '--name and --system (or DEPOT_SYSTEM) belong together'],
    [
      '--storage-config DIR/missing.yaml DIR/empty',
      '--storage-config: the file DIR/missing.yaml does not exist',
    ],
    ['--storage-config DIR/broken.yaml DIR/empty', 'broken.yaml is not valid YAML: Flow map'],
    ['--storage-config DIR/two.yaml DIR/empty', 'two.yaml: must name exactly one backend'],
    ['--versions >>>1 DIR/empty', '--versions: ">>>1" at character 1 is not a version constraint'],
    ['--parallel 0 DIR/empty', '--parallel: "0" is not a number: write 1 to 64'],
    ['--format rar DIR/empty', '--format: "rar" is not a format: write zip or tar.gz'],
    ['--namespace A_B DIR/empty', '--namespace: "A_B" is not a namespace'],
    ['--token x DIR/empty', '--token is unknown: --help lists all flags'],
    [
      '--import-token x DIR/empty',
      'is a secret and no flag: set DEPOT_IMPORT_TOKEN or DEPOT_IMPORT_TOKEN_FILE',
    ],
    ['--manifests DIR/file DIR/empty', '--manifests: DIR/file is not a folder; name a folder'],
    ['--archives DIR/file/below DIR/empty', 'a part of DIR/file/below is a file'],
  ])('%s', async (line, message) => {
    await expect(inputs(line)).rejects.toMatchObject({
      problems: expect.arrayContaining([
        expect.stringContaining(message.replaceAll('DIR', dir)),
      ]) as unknown,
    })
  })

  it('a token with sources of two hosts', async () => {
    const line = 'one.example.com/a/b/c two.example.com/a/b'
    await expect(inputs(line, 'sesame')).rejects.toThrow(
      'DEPOT_IMPORT_TOKEN is for one host, and the sources are on several: one.example.com, two.example.com',
    )
  })

  it('all of them at once', async () => {
    const line = '--list DIR/missing.txt --versions >>>1 --storage-config DIR/empty DIR/file'
    await expect(inputs(line)).rejects.toMatchObject({ problems: { length: 4 } })
  })
})

it('counts a source once if it is named twice', async () => {
  const { addresses } = await inputs('--dry-run --list DIR/twice.txt registry.example.com/a/b/c')
  expect(addresses).toHaveLength(1)
})
