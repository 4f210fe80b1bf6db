import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import { bareEnvironment } from '../../hack/testbed/environment.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { startServer } from '../../hack/testbed/server/server.ts'
import { environmentOf, shellBlock } from '../documentation.fixture.ts'
import { typeServer } from '../typed-server.fixture.ts'
import { ControlledCluster } from './controlled-cluster.fixture.ts'

/** Runs the commands of docs/sync.md unchanged. Variables replace github.com and a public registry by test upstreams. */
const repository = join(import.meta.dirname, '../..')
const run = promisify(execFile)
let cluster: ControlledCluster
let environment: Record<string, string>

beforeAll(async () => {
  cluster = await ControlledCluster.start()
  const { github, flags } = cluster.upstreams
  for (const version of ['5.0.0', '5.1.0', '6.0.0']) {
    const files = { 'main.tf': `output "version" {\n  value = "${version}"\n}\n` }
    github.tag('terraform-aws-modules/terraform-aws-vpc', `v${version}`, files)
  }
  for (const version of ['3.5.0', '3.6.0']) {
    await cluster.upstreams.provider('hashicorp/random', version)
  }
  environment = {
    ...bareEnvironment,
    HOME: process.env['HOME'] ?? '',
    ...environmentOf(flags),
  }
}, 300_000)
afterAll(() => cluster?.stop())

/** A checkout where commands may write. */
function checkout(): string {
  const dir = mkdtempSync(join(tmpdir(), 'depot-page-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  for (const name of ['cmd', 'depot', 'hack', 'node_modules', 'package.json', 'pkg']) {
    symlinkSync(join(repository, name), join(dir, name))
  }
  cpSync(join(repository, 'docs/examples'), join(dir, 'docs/examples'), { recursive: true })
  return dir
}

const serve = (cwd: string, line: string): Promise<string> =>
  typeServer(line, { cwd, env: environment })

/** Installs the modules and providers that the page names. */
async function install(url: string): Promise<void> {
  for (const { path } of clis.filter((cli) => cli.path !== undefined)) {
    const configuration = `terraform {
  required_providers {
    random = { source = "depot.test/platform/random" }
  }
}
module "vpc" {
  source = "depot.test/platform/vpc/aws"
}
`
    const workspace = new Workspace(path, url, configuration)
    await workspace.must('init')
    expect(workspace.modules()['vpc']?.version).toBe('5.1.0')
    expect(workspace.lockFile()).toMatch(/version\s+= "3\.6\.0"/)
  }
}

it('fills a folder and serves it, and serves a copy that was moved elsewhere', async () => {
  const dir = checkout()
  const lines = shellBlock('sync.md', 'mkdir -p registry').trim().split('\n')
  const server = lines.pop() ?? ''
  expect(server).toContain('./depot server')
  const { stdout } = await run('sh', ['-ec', lines.join('\n')], { cwd: dir, env: environment })
  expect(stdout).toMatch(/^4 of 4 versions are stored$/m)
  await install(await serve(dir, server))

  await run('sh', ['-ec', shellBlock('sync.md', 'tar -cf')], { cwd: dir, env: environment })
  const inside = checkout()
  cpSync(join(dir, 'signing-key.asc'), join(inside, 'signing-key.asc'))
  await run('tar', ['-xf', join(dir, 'registry.tar')], { cwd: inside })
  expect(existsSync(join(inside, 'registry/first-depot.yaml'))).toBe(true)
  await install(await serve(inside, server))
})

it('fills a cluster, and asks for a sync', async () => {
  const dir = checkout()
  writeFileSync(join(dir, 'ca.pem'), 'a certificate')
  const controller = await cluster.startController()
  onTestFinished(async () => {
    await controller.stop()
  })
  const env = { ...environment, KUBECONFIG: cluster.plane.kubeconfigFile }
  const type = async (text: string) =>
    (await run('sh', ['-ec', shellBlock('sync.md', text)], { cwd: dir, env })).stdout
  const printed = await type('kubectl create namespace platform')
  expect(printed).toMatch(/depot.depot.internal\/public .* True +Synced/)
  expect(printed).toMatch(/version.depot.internal\/vpc-5-1-0 .* true +True +Synced/)
  expect(await type('create secret generic')).toContain('secret/depot-github created')
  expect(await type('annotate depots public')).toContain('annotated')
  await run('kubectl', ['apply', '--server-side', '-f', 'docs/examples/sources.yaml'], {
    cwd: dir,
    env,
  })
})

it('docs/sources.md, sync.md and import.md name only existing flags and metrics', async () => {
  const read = (file: string) => readFileSync(join(repository, file), 'utf8')
  const flags = new Set(
    [...read('config/reference.md').matchAll(/`(--[a-z-]+)/g)].map(([, flag]) => flag),
  )
  const text = ['sources', 'sync', 'import'].map((name) => read(`docs/${name}.md`)).join('\n')
  // Flags of kubectl, tar, grep and gpg.
  const others = [
    '--server-side',
    '--for',
    '--timeout',
    '--overwrite',
    '--include',
    '--fingerprint',
  ]
  const named = [...text.matchAll(/(?<![\w-])(--[a-z][a-z-]+)/g)].map(([, flag = '']) => flag)
  const unknown = named.filter((flag) => !flags.has(flag) && !flag.startsWith('--from-'))
  expect(unknown.filter((flag) => !others.includes(flag))).toEqual([])

  const registry = new Registry()
  const policy = join(registry.dir, 'policy.yaml')
  writeFileSync(policy, 'minimumAge: 1d\n')
  const programs = [
    await cluster.startController('--upstream-policy', policy),
    await startServer(registry),
  ]
  onTestFinished(async () => {
    for (const program of programs) await program.stop()
    registry.remove()
  })
  const counted = [...text.matchAll(/`(depot_[a-z_]+)/g)].map(([, name = '']) => name)
  expect(counted.length).toBeGreaterThan(3)
  // Some exist once this controller holds the lease.
  const absent = async () => {
    const texts = programs.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text())
    const metrics = (await Promise.all(texts)).join('\n')
    return counted.filter((name) => !metrics.includes(`# TYPE ${name} `))
  }
  await expect.poll(absent, { timeout: 60_000 }).toEqual([])
})
