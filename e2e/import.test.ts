import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildSamples } from '../hack/samples.ts'
import { clis, Workspace } from '../hack/testbed/cli/cli.ts'
import { depotArguments } from '../hack/testbed/program/command.ts'
import { entriesIn } from '../hack/testbed/registry/archives.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../hack/testbed/server/server.ts'
import { createUpstreamAuthority } from '../hack/testbed/upstream/https-server.ts'

const repository = dirname(import.meta.dirname)
const samples = join(repository, 'config/samples')
const other = new Registry()
const target = new Registry()
const authority = createUpstreamAuthority()
let host: string
let server: Server

const depotImport = (...args: readonly string[]) => depot('import', ...args)

async function depot(command: 'import' | 'sync', ...args: readonly string[]) {
  const { manifests, archives, dir } = target
  const child = spawn(
    process.execPath,
    [
      ...depotArguments(command),
      '--manifests',
      manifests,
      '--archives',
      archives,
      '--spool-dir',
      join(dir, 'spool'),
      '--egress-ca-path',
      authority.caFile,
      ...args,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { stdout, stderr, code: child.exitCode ?? (await exit(child)) }
}

const exit = (child: ReturnType<typeof spawn>): Promise<number | null> =>
  new Promise((resolve) => {
    child.once('exit', resolve)
  })

const sources = () =>
  ['platform/network/aws', 'payments/labels/generic', 'platform/hello'].map(
    (path) => `${host}/${path}`,
  )

beforeAll(async () => {
  for (const file of ['namespaces.yaml', 'network.yaml', 'labels.yaml', 'hello.yaml']) {
    other.writeText(file, readFileSync(join(samples, file), 'utf8'))
  }
  await buildSamples(other.archives)
  await other.sign()
  await target.sign()
  const { certFile, keyFile } = authority.authority.server('other-registry')
  const upstream = await startServer(other, '--tls-cert-path', certFile, '--tls-cert-key', keyFile)
  host = new URL(upstream.url).host
  return upstream.stop
})
beforeAll(async () => {
  server = await startServer(target)
  return server.stop
})
afterAll(() => {
  other.remove()
  target.remove()
  authority.remove()
})

describe('depot import', () => {
  it('lists what it would import, and writes nothing', async () => {
    const { stdout, stderr, code } = await depotImport('--dry-run', ...sources())
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(stdout).toContain('would import platform/network/aws 1.1.0\n')
    expect(stdout).toMatch(/would import platform\/hello \d+\.\d+\.\d+ linux_amd64\n/)
    expect(readdirSync(target.manifests)).toEqual([])
    expect(readdirSync(target.archives)).toEqual([])
  })

  it('moves modules and providers of another registry, and continues where it stopped', async () => {
    const first = await depotImport('--versions', '< 1.1', ...sources())
    expect(first).toMatchObject({ stderr: '', code: 0 })
    expect(first.stdout).toContain('stored platform/network/aws 1.0.0')
    expect(first.stdout).not.toContain('1.1.0')
    const second = await depotImport(...sources())
    expect(second).toMatchObject({ stderr: '', code: 0 })
    expect(second.stdout).toContain('present platform/network/aws 1.0.0')
    expect(second.stdout).toContain('stored platform/network/aws 1.1.0')
    const [lost = ''] = entriesIn(target.archives)
      .filter(({ path }) => path.includes('network-1.0.0') && !path.endsWith('.docs.json.gz'))
      .map(({ path }) => path)
    rmSync(join(target.archives, lost))
    const third = await depotImport(...sources())
    expect(third.stdout).toContain('stored platform/network/aws 1.0.0')
    expect(third.stdout).toMatch(/\n1 stored, \d+ already there\n$/)
  })

  it('imports the READMEs of modules', async () => {
    const url = `${server.url}/depot/ui/v1/resources/platform/module/network-aws`
    const shown = async () => (await fetch(url)).json()
    await expect
      .poll(shown)
      .toMatchObject({ readmeContent: expect.stringMatching(/^# /) as unknown })
  })

  it('writes Versions that depot sync accepts unchanged', async () => {
    const archives = entriesIn(target.archives)
    const own = () => entriesIn(target.manifests).filter(({ path }) => !path.includes('.status.'))
    const versions = () => own().filter(({ path }) => !path.startsWith('configmaps/'))
    const before = versions()
    const { stdout, stderr, code } = await depot('sync')
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(stdout).toMatch(/^(\d+) of \1 versions are stored$/m)
    expect(versions()).toEqual(before)
    expect(entriesIn(target.archives)).toEqual(archives)
  })

  describe.each(clis)('imported modules and providers, with $name', ({ path }) => {
    const module = (source: string, inputs: string) => `module "it" {
      source = "depot.test/${source}"
      ${inputs}
    }`

    it.skipIf(path === undefined).each([
      {
        source: 'platform/network/aws',
        inputs: 'version = "1.1.0"\ncidr = "10.1.0.0/16"',
        files: 'network/1.1.0',
      },
      {
        source: 'payments/labels/generic',
        inputs: 'version = "0.2.0"\nteam = "Payments"',
        files: 'labels/0.2.0',
      },
    ])('the files of $source equal those of its sources', async ({ source, inputs, files }) => {
      const workspace = new Workspace(path, server.url, module(source, inputs))
      // The server notices new manifests a moment later.
      await expect.poll(async () => (await workspace.run('init')).output).toContain('initialized')
      const installed = workspace.modules()['it']?.dir ?? ''
      expect(entriesIn(installed)).toEqual(entriesIn(join(samples, 'sources', files)))
    })

    it.skipIf(path === undefined)('a provider is installed with its original digests', async () => {
      const configuration = `terraform {
        required_providers { hello = { source = "depot.test/platform/hello" } }
      }`
      const workspace = new Workspace(path, server.url, configuration)
      await expect.poll(async () => (await workspace.run('init')).output).toContain('initialized')
      const digests = [...workspace.lockFile().matchAll(/"(zh:[0-9a-f]{64})"/g)].map(([, zh]) => zh)
      const version = /version\s+= "(.*?)"/.exec(workspace.lockFile())?.[1] ?? ''
      const archives = await Promise.all(
        entriesIn(other.archives)
          .filter((entry) => entry.path.includes(`hello_${version}_`))
          .map(async ({ content }) => `zh:${await sha256(content)}`),
      )
      expect(new Set(digests)).toEqual(new Set(archives))
    })
  })
})

async function sha256(bytes: Buffer): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes))).toString('hex')
}
