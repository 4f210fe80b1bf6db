import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parse, stringify } from 'yaml'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import { depotArguments } from '../../hack/testbed/program/command.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../../hack/testbed/server/server.ts'
import { startUpstreams, type Upstreams } from '../../hack/testbed/upstream/upstreams.ts'

let upstreams: Upstreams
const registry = new Registry()
const vpc = (version: string) => ({
  'main.tf': `output "version" {\n  value = "${version}"\n}\n`,
  'README.md': '# vpc\n',
})

const depot = `# What this team needs.
apiVersion: depot.internal/v1alpha1
kind: Depot
metadata: { name: main, namespace: team } # one for all
spec:
  global:
    storageConfig:
      fileSystem: { directoryPath: depot }
  moduleConfigs:
    - name: vpc
      provider: aws
      repoOwner: acme
      versionConstraints: '>= 1.0'
  providerConfigs:
    - name: dns
      namespace: acme
`

function start(...flags: readonly string[]) {
  const { manifests, archives, dir } = registry
  const options = [
    '--manifests',
    manifests,
    '--archives',
    archives,
    '--spool-dir',
    join(dir, 'spool'),
  ]
  const all = [...depotArguments('sync'), ...options, ...upstreams.flags, ...flags]
  return spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'pipe'] })
}

/** `depot sync`, to its end. */
async function sync(...flags: readonly string[]) {
  const child = start(...flags)
  const exited = once(child, 'exit') as Promise<[number]>
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await exited
  return { status, output, errors }
}

const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.[a-z]+$/.test(file))
    .toSorted()

beforeAll(async () => {
  upstreams = await startUpstreams()
  await registry.sign()
  for (const version of ['0.9.0', '1.0.0', '1.1.0']) {
    upstreams.github.tag('acme/vpc', `v${version}`, vpc(version))
  }
  await upstreams.provider('acme/dns', '2.0.0')
  writeFileSync(join(registry.manifests, 'main.yaml'), depot)
})
afterAll(async () => {
  await upstreams?.[Symbol.asyncDispose]()
  registry.remove()
})

describe('depot sync', () => {
  it('fills a folder from its Depot', async () => {
    const { status, output } = await sync()
    expect(output).toContain('4 of 4 versions are stored')
    expect(status).toBe(0)
    expect(filesBelow(registry.manifests)).toEqual([
      '.depot-removals/stored.json',
      'main.status.yaml',
      'main.yaml',
      'modules/team/vpc.yaml',
      'providers/team/dns.yaml',
      'versions/team/dns-2-0-0-darwin-arm64.yaml',
      'versions/team/dns-2-0-0-linux-amd64.yaml',
      'versions/team/vpc-1-0-0.yaml',
      'versions/team/vpc-1-1-0.yaml',
    ])
  })

  it('keeps files of people byte for byte, and writes the status next to them', () => {
    expect(readFileSync(join(registry.manifests, 'main.yaml'), 'utf8')).toBe(depot)
    const status = readFileSync(join(registry.manifests, 'main.status.yaml'), 'utf8')
    expect(parse(status)).toMatchObject({ status: { modules: ['vpc'], providers: ['dns'] } })
  })

  it('writes nothing when it runs again and upstream has nothing new', async () => {
    const state = () =>
      filesBelow(registry.manifests).map((file) => {
        const { ino, mtimeNs } = statSync(join(registry.manifests, file), { bigint: true })
        return `${file} ${ino} ${mtimeNs}`
      })
    const before = state()
    expect(await sync()).toMatchObject({ status: 0, output: '4 of 4 versions are stored\n' })
    expect(state()).toEqual(before)
  })

  it('fetches archives again that were lost between two runs', async () => {
    const before = filesBelow(registry.archives)
    rmSync(registry.archives, { recursive: true })
    const { status, output } = await sync()
    expect(status).toBe(0)
    const lines = output.split('\n')
    expect(lines.slice(-3)).toEqual(['4 stored again', '4 of 4 versions are stored', ''])
    expect(lines).toContain('stored again team/vpc-1-1-0')
    expect(filesBelow(registry.archives)).toEqual(before)
  })

  it('finds altered archives with --verify, and fetches them again', async () => {
    const [name = ''] = filesBelow(registry.archives).filter((file) =>
      /vpc-1\.1\.0-\w+\.tar\.gz$/.test(file),
    )
    const path = join(registry.archives, name)
    const whole = readFileSync(path)
    rmSync(path)
    writeFileSync(path, Buffer.alloc(whole.length))
    expect(await sync('--verify')).toMatchObject({
      status: 0,
      output: 'stored again team/vpc-1-1-0\n1 stored again\n4 of 4 versions are stored\n',
    })
    expect(readFileSync(path).equals(whole)).toBe(true)
  })

  it('reports an object that is in two files', async () => {
    const twin = join(registry.manifests, 'twin.yaml')
    writeFileSync(twin, depot)
    const { status, output } = await sync()
    rmSync(twin)
    expect(output).toContain(
      'twin.yaml:2: Depot team/main is already defined in main.yaml:2; remove one of the two\n',
    )
    expect(status).toBe(1)
  })

  it('keeps other programs from writing to the folder while it runs', async () => {
    const watching = start('--watch')
    const lock = join(registry.manifests, '.depot.lock')
    await expect.poll(() => existsSync(lock), { timeout: 60_000 }).toBe(true)
    const refused = await sync()
    expect(refused.status).toBe(2)
    expect(refused.errors).toContain(
      `--manifests: ${registry.manifests} is being written to by depot sync, process ${watching.pid}`,
    )
    const died = once(watching, 'exit')
    watching.kill('SIGKILL')
    await died
    expect(existsSync(lock)).toBe(true)
    expect(await sync()).toMatchObject({ status: 0 })
    expect(existsSync(lock)).toBe(false)
  })

  it('stops if another process has taken over the folder', async () => {
    const watching = start('--watch')
    const lock = join(registry.manifests, '.depot.lock')
    await expect.poll(() => existsSync(lock), { timeout: 60_000 }).toBe(true)
    const ended = once(watching, 'exit')
    rmSync(lock)
    expect(await ended).toEqual([1, null])
  })

  it('creates documentation and READMEs of module versions, which the server sends', async () => {
    const server = await startServer(registry)
    onTestFinished(async () => void (await server.stop()))
    const resource = `${server.url}/depot/ui/v1/resources/team/module/vpc`
    expect(await (await fetch(resource)).json()).toMatchObject({ readmeContent: '# vpc\n' })
    const url = `${resource}/docs`
    const latest = await fetch(url)
    expect(await latest.json()).toMatchObject({
      schema: 1,
      address: 'vpc/aws',
      version: '1.1.0',
      root: { readme: '# vpc\n', inputs: [], outputs: [{ name: 'version' }] },
    })
    const headers = { 'If-None-Match': latest.headers.get('ETag') ?? '' }
    expect((await fetch(url, { headers })).status).toBe(304)
    const older = await fetch(`${url}?version=1.0.0`)
    expect(await older.json()).toMatchObject({ version: '1.0.0' })
    const detail = await fetch(`${server.url}/v1/modules/team/vpc/aws/1.0.0`)
    expect(await detail.json()).toMatchObject({ root: { outputs: [{ name: 'version' }] } })
  })

  describe.each(clis)('$name', ({ path }) => {
    let server: Server
    beforeAll(async () => {
      server = await startServer(registry)
    })
    afterAll(() => server?.stop())

    it.skipIf(path === undefined)('installs the module and the provider from it', async () => {
      const workspace = new Workspace(
        path,
        server.url,
        `terraform {
  required_providers {
    dns = { source = "depot.test/team/dns" }
  }
}
module "vpc" {
  source  = "depot.test/team/vpc/aws"
  version = "~> 1.0"
}
`,
      )
      await workspace.must('init')
      const { version, dir } = workspace.modules()['vpc'] ?? { dir: '' }
      expect(version).toBe('1.1.0')
      for (const [file, content] of Object.entries(vpc('1.1.0'))) {
        expect(readFileSync(join(dir, file), 'utf8')).toBe(content)
      }
      expect(workspace.lockFile().match(/zh:/g)).toHaveLength(2)
    })
  })

  it('reports failures, continues with the rest, and exits with status 1', async () => {
    const { metadata } = parse(depot) as { metadata: object }
    const bad = {
      ...(parse(depot) as object),
      metadata: { ...metadata, name: 'bad' },
      spec: {
        global: { storageConfig: { fileSystem: { directoryPath: 'depot' } } },
        moduleConfigs: [{ name: 'gone', provider: 'aws', repoOwner: 'acme' }],
      },
    }
    writeFileSync(join(registry.manifests, 'bad.yaml'), stringify(bad))
    upstreams.github.tag('acme/vpc', 'v1.2.0', vpc('1.2.0'))
    const { status, output } = await sync()
    expect(status).toBe(1)
    expect(output).toContain('stored team/vpc-1-2-0\n')
    expect(output).toMatch(/^Depot team\/bad: .*gone/m)
    rmSync(join(registry.manifests, 'bad.yaml'))
  })

  it('deletes the versions of a removed module, with their archives', async () => {
    rmSync(join(registry.manifests, 'main.yaml'))
    rmSync(join(registry.manifests, 'modules/team/vpc.yaml'))
    const stored = filesBelow(registry.archives)
    await sync()
    expect(existsSync(join(registry.manifests, 'versions/team/vpc-1-0-0.yaml'))).toBe(false)
    expect(filesBelow(registry.archives)).toEqual(stored)
    const notes = readdirSync(join(registry.manifests, '.depot-removals'))
    for (const note of notes.filter((one) => one !== 'stored.json')) {
      // As if a day had passed.
      const path = join(registry.manifests, '.depot-removals', note)
      const left = {
        ...(parse(readFileSync(path, 'utf8')) as object),
        removeAfter: '2026-01-01T00:00:00Z',
      }
      writeFileSync(path, JSON.stringify(left))
    }
    await sync()
    expect(filesBelow(registry.archives).filter((file) => file.includes('vpc'))).toEqual([])
    expect(filesBelow(registry.archives).filter((file) => file.endsWith('.zip'))).toHaveLength(2)
  })

  it('says that archives stay if the files of their Versions are missing, and how to remove them', async () => {
    const before = filesBelow(registry.archives)
    rmSync(join(registry.manifests, 'providers'), { recursive: true })
    rmSync(join(registry.manifests, 'versions'), { recursive: true })
    const { errors } = await sync()
    expect(errors).toMatch(/dns-2-0-0-linux-amd64.*--confirm-removals.*archives stay/)
    expect(filesBelow(registry.archives)).toEqual(before)
  })
})
