import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { clis, Workspace } from '../hack/testbed/cli/cli.ts'
import { startS3 } from '../hack/testbed/object-stores/object-stores.ts'
import { tarGzOf } from '../hack/testbed/registry/archives.ts'
import { startUpstreams, type Upstreams } from '../hack/testbed/upstream/upstreams.ts'
import { folderOfProgram, shellBlock } from './documentation.fixture.ts'
import { missing } from './storage.fixture.ts'
import { typeServer } from './typed-server.fixture.ts'

/** Runs the commands of docs/import.md unchanged. The registry in them is a server on a port of this machine. */
const repository = join(import.meta.dirname, '..')
const page = readFileSync(join(repository, 'docs/import.md'), 'utf8')
const run = promisify(execFile)
const bin = folderOfProgram()
let upstreams: Upstreams
let dir: string

beforeAll(async () => {
  upstreams = await startUpstreams()
  const { registry } = upstreams
  registry.token = 'sesame'
  for (const version of ['1.0.0', '1.1.0']) {
    const archive = await tarGzOf([{ path: 'main.tf', content: Buffer.from(`# ${version}\n`) }])
    registry.addModule({ address: 'network/vpc/aws', version, archive })
  }
  await upstreams.provider('platform/dns', '2.0.0')
})
afterAll(async () => {
  await upstreams?.[Symbol.asyncDispose]()
  rmSync(bin, { recursive: true })
})
beforeEach(() => {
  const made = mkdtempSync(join(tmpdir(), 'depot-import-page-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  dir = made
})

/** The lines of the page that contain a text, with the address of the test registry. */
const block = (text: string): string =>
  shellBlock('import.md', text).replaceAll('registry.example.com', upstreams.registry.host)

/** The command between backticks that begins with a text. */
function command(begin: string): string {
  const found = [...page.matchAll(/`([^`\n]+)`/g)]
    .map(([, text = '']) => text)
    .filter((text) => text.startsWith(begin))
  expect(found, `commands that begin with ${begin}`).toHaveLength(1)
  return (found[0] ?? '').replaceAll(
    'registry\\.example\\.com',
    upstreams.registry.host.replace('.', '\\.'),
  )
}

/** Settings from the environment, so that the commands can be run unchanged. */
const environment = (more: Readonly<Record<string, string>> = {}) => ({
  PATH: `${bin}:${process.env['PATH'] ?? ''}`,
  HOME: dir,
  TMPDIR: dir,
  DEPOT_EGRESS_ALLOW: upstreams.registry.downloadHost,
  DEPOT_EGRESS_CA_PATH: upstreams.caFile,
  ...more,
})

async function type(lines: string, more?: Readonly<Record<string, string>>): Promise<string> {
  return (await run('sh', ['-ec', lines], { cwd: dir, env: environment(more) })).stdout
}

const serve = (line: string, more?: Readonly<Record<string, string>>): Promise<string> =>
  typeServer(line, { cwd: dir, env: environment(more) })

/** Installs the imported modules with both CLIs. */
async function install(url: string): Promise<void> {
  for (const { path } of clis.filter((cli) => cli.path !== undefined)) {
    const configuration = `terraform {
  required_providers {
    dns = { source = "depot.test/platform/dns" }
  }
}
module "vpc" {
  source = "depot.test/network/vpc/aws"
}
`
    const workspace = new Workspace(path, url, configuration)
    await workspace.must('init')
    expect(workspace.modules()['vpc']?.version).toBe('1.1.0')
    expect(workspace.lockFile()).toMatch(/version\s+= "2\.0\.0"/)
  }
}

it('imports into a folder, and serves it', async () => {
  const lines = block('depot server').replace('=…', '=sesame').trim().split('\n')
  const server = lines.pop() ?? ''
  expect(server).toMatch(/^depot server /)
  const printed = await type(lines.join('\n'))
  expect(printed).toContain('would import network/vpc/aws 1.1.0\n')
  expect(printed).toMatch(/^4 to import, 0 already there$/m)
  expect(printed).toMatch(/^4 stored, 0 already there$/m)
  await install(await serve(server))
})

it.skipIf(missing.s3)('imports the modules of configurations into a bucket', async () => {
  const store = await startS3()
  onTestFinished(() => store.stop())
  await store.createBucket('depot-archives')
  const { host } = upstreams.registry
  const configuration = `module "a" {\n  source = "${host}/network/vpc/aws"\n}\n`
  mkdirSync(join(dir, 'live'))
  writeFileSync(join(dir, 'live/a.tf'), configuration)
  writeFileSync(join(dir, 'live/b.tf'), configuration)
  const more = { ...store.env, DEPOT_IMPORT_TOKEN: 'sesame' }
  await type(command('grep -rhoE'), more)
  expect(readFileSync(join(dir, 'sources.txt'), 'utf8')).toBe(`${host}/network/vpc/aws\n`)
  writeFileSync(join(dir, 'sources.txt'), `${host}/network/vpc/aws\n${host}/platform/dns # Ours.\n`)
  expect(await type(command('depot import --dry-run --list'), more)).toContain('4 to import')

  const [, yaml = ''] = /^ *```yaml\n(.*?)^ *```/ms.exec(page) ?? []
  writeFileSync(join(dir, 'storage.yaml'), yaml.trim())
  expect(await type(block('--storage-config'), more)).toMatch(/^4 stored, 0 already there$/m)
  expect(readdirSync(join(dir, 'archives'))).toEqual([])
  expect(await type(command('depot lint'), more)).toContain('0 errors, 0 warnings')
  await type('depot keygen --out signing-key.asc')
  const server = 'depot server --anonymous-auth --gpg-private-key-path signing-key.asc'
  await install(await serve(`${server} --manifests ./manifests`, more))
})
