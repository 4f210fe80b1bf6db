import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { depotArguments } from '../../hack/testbed/program/command.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { startServer } from '../../hack/testbed/server/server.ts'
import { startUpstreams, type Upstreams } from '../../hack/testbed/upstream/upstreams.ts'

const depot = `apiVersion: depot.internal/v1alpha1
kind: Depot
metadata: { name: main, namespace: team }
spec:
  global:
    storageConfig:
      fileSystem: { directoryPath: depot }
  moduleConfigs:
    - { name: vpc, provider: aws, repoOwner: acme }
`
const patience = { timeout: 60_000, interval: 100 }
let upstreams: Upstreams
let registry: Registry
let running: ChildProcess | undefined

beforeEach(async () => {
  registry = new Registry()
  upstreams = await startUpstreams()
  await registry.sign()
  for (const version of ['1.0.0', '1.1.0']) {
    upstreams.github.tag('acme/vpc', `v${version}`, { 'main.tf': `# ${version}\n` })
  }
  writeFileSync(join(registry.manifests, 'main.yaml'), depot)
})
afterEach(async () => {
  await kill()
  await upstreams?.[Symbol.asyncDispose]()
  registry.remove()
})

const versions = () => join(registry.manifests, 'versions/team')
const fileOf = (name: string) => join(versions(), `${name}.yaml`)
const textOf = (name: string) =>
  existsSync(fileOf(name)) ? readFileSync(fileOf(name), 'utf8') : ''

function start(...flags: readonly string[]) {
  const options = ['--manifests', registry.manifests, '--archives', registry.archives]
  const spool = ['--spool-dir', join(registry.dir, 'spool')]
  const args = [...depotArguments('sync'), ...options, ...spool, ...upstreams.flags, ...flags]
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
}

async function sync() {
  const child = start()
  const exited = once(child, 'exit') as Promise<[number]>
  const [, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await exited
  return { status, errors }
}

/** Starts `depot sync --watch`, and waits until it has stored everything. */
async function watch(): Promise<void> {
  running = start('--watch')
  running.stdout?.resume()
  running.stderr?.resume()
  await expect.poll(() => textOf('vpc-1-1-0'), patience).toContain('contentDigest')
  await expect.poll(() => textOf('vpc-1-0-0'), patience).toContain('contentDigest')
}

async function kill(): Promise<void> {
  if (running === undefined) return
  const ended = once(running, 'exit')
  running.kill('SIGKILL')
  await ended
  running = undefined
}

function removeRepository(): void {
  upstreams.github.repositories.delete('acme/vpc')
}

async function served(): Promise<unknown> {
  const server = await startServer(registry)
  try {
    const answer = await fetch(`${server.url}/v1/modules/team/vpc/aws/versions`)
    return await answer.json()
  } finally {
    await server.stop()
  }
}

const both = {
  modules: [{ versions: [{ version: '1.1.0' }, { version: '1.0.0' }] }],
}

it('depot sync writes a cut file again, names both files, and serves the version', async () => {
  expect(await sync()).toMatchObject({ status: 0 })
  const whole = textOf('vpc-1-0-0')
  const cut = whole.slice(0, whole.indexOf('spec:') + 20)
  writeFileSync(fileOf('vpc-1-0-0'), cut)
  expect(await served()).not.toMatchObject(both)
  removeRepository()
  const { errors } = await sync()
  const names = /versions\/team\/vpc-1-0-0\.yaml.*versions\/team\/\.vpc-1-0-0\.yaml\.broken/
  expect(errors).toMatch(names)
  expect(textOf('vpc-1-0-0')).toContain(/contentDigest: .*/.exec(whole)?.[0])
  expect(readFileSync(join(versions(), '.vpc-1-0-0.yaml.broken'), 'utf8')).toBe(cut)
  expect(await served()).toMatchObject(both)
})

it('depot sync writes a cut README again', async () => {
  const files = { 'main.tf': '', 'README.md': `# VPC\n\n${'A network. '.repeat(500)}\n` }
  upstreams.github.tag('acme/vpc', 'v1.2.0', files)
  expect(await sync()).toMatchObject({ status: 0 })
  const file = fileOf('vpc-1-2-0')
  const whole = readFileSync(file, 'utf8')
  expect(whole.slice(0, 4096)).toContain('README.md: ')
  writeFileSync(file, whole.slice(0, 4096))
  removeRepository()
  await sync()
  expect(readFileSync(file, 'utf8')).toBe(whole)
})

it('depot sync --watch writes a cut file again', async () => {
  await watch()
  const whole = textOf('vpc-1-0-0')
  writeFileSync(fileOf('vpc-1-0-0'), whole.slice(0, 300))
  removeRepository()
  await expect.poll(() => textOf('vpc-1-0-0'), patience).toBe(whole)
  expect(readdirSync(versions())).toContain('.vpc-1-0-0.yaml.broken')
  expect(await served()).toMatchObject(both)
})

it('a killed run leaves the archive of a version whose file is emptied to the next run', async () => {
  await watch()
  const note = join(registry.manifests, '.depot-removals/stored.json')
  const noted = () => (existsSync(note) ? readFileSync(note, 'utf8') : '')
  await expect.poll(noted, patience).toContain('vpc-1-1-0')
  await expect.poll(noted, patience).toContain('vpc-1-0-0')
  await kill()
  const digest = /contentDigest: .*/.exec(textOf('vpc-1-0-0'))?.[0]
  writeFileSync(fileOf('vpc-1-0-0'), '')
  removeRepository()
  await sync()
  expect(textOf('vpc-1-0-0')).toContain(digest)
  expect(await served()).toMatchObject(both)
})
