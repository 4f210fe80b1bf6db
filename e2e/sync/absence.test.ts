import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { startUpstreams, type Upstreams } from '../../hack/testbed/upstream/upstreams.ts'

/*
 * A manifest that is missing for a while, as in a checkout of another branch or in the hands of an editor. Times are the point
 * here: what must not happen would happen some seconds later.
 */

let upstreams: Upstreams
let registry: Registry
let watching: ChildProcess | undefined

const module = `# What this team needs.
apiVersion: depot.internal/v1alpha1
kind: Module
metadata: { name: vpc, namespace: team } # short

spec:
  moduleConfig:
    provider:   aws
    repoOwner: acme
    storageConfig: { fileSystem: { directoryPath: depot } }
  versions: [{ version: 1.0.0 }]
`

beforeEach(async () => {
  upstreams = await startUpstreams()
  registry = new Registry()
  upstreams.github.tag('acme/vpc', 'v1.0.0', { 'main.tf': 'locals {}\n' })
  writeFileSync(join(registry.manifests, 'vpc.yaml'), module)
})
afterEach(async () => {
  watching?.kill('SIGKILL')
  await upstreams[Symbol.asyncDispose]()
  registry.remove()
})

const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(dir.length + 1))
    .toSorted()

/** Each file with what changes when it is written. */
const filesNow = (): readonly (readonly [file: string, written: string])[] =>
  filesBelow(registry.manifests).map((file) => {
    const { ino, mtimeNs } = statSync(join(registry.manifests, file), { bigint: true })
    return [file, `${ino} ${mtimeNs}`]
  })

function start(...flags: readonly string[]): ChildProcess {
  const { manifests, archives, dir } = registry
  const folders = ['--manifests', manifests, '--archives', archives]
  const spool = ['--spool-dir', join(dir, 'spool')]
  const options = [...folders, ...spool, ...upstreams.flags, '--removal-grace=0s', ...flags]
  return spawn(process.execPath, ['cmd/sync/main.ts', ...options], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

async function startWatching(): Promise<void> {
  watching = start('--watch')
  const lock = join(registry.manifests, '.depot.lock')
  await expect.poll(() => statSync(lock, { throwIfNoEntry: false })?.size, wait).toBeGreaterThan(0)
}

const wait = { timeout: 90_000, interval: 50 }
/** An archive and its documentation. */
const archives = () => filesBelow(registry.archives)
const statusOf = (file: string) => () =>
  filesBelow(registry.manifests).includes(file)
    ? readFileSync(join(registry.manifests, file), 'utf8')
    : ''
const breakUpstream = () => upstreams.github.faults.on(/./, 'error')
const at = (file: string) => join(registry.manifests, file)

it('keeps an archive whose module is missing for 1.5 seconds while upstream is unreachable', async () => {
  await startWatching()
  await expect.poll(archives, wait).toHaveLength(2)
  await expect.poll(statusOf('vpc.status.yaml'), wait).toContain('all 1 are stored')
  const [stored, before] = [archives(), filesNow()]
  breakUpstream()
  renameSync(at('vpc.yaml'), join(registry.dir, 'elsewhere.yaml'))
  await sleep(1_500)
  renameSync(join(registry.dir, 'elsewhere.yaml'), at('vpc.yaml'))
  await sleep(15_000)
  expect(archives()).toEqual(stored)
  expect(filesNow()).toEqual(before)
  expect(readFileSync(at('vpc.yaml'), 'utf8')).toBe(module)
})

it('keeps an archive while upstream is unreachable, and removes it once it can be asked', async () => {
  await startWatching()
  await expect.poll(archives, wait).toHaveLength(2)
  await expect.poll(statusOf('vpc.status.yaml'), wait).toContain('all 1 are stored')
  const stored = archives()
  breakUpstream()
  renameSync(at('vpc.yaml'), join(registry.dir, 'elsewhere.yaml'))
  await sleep(20_000)
  expect(archives()).toEqual(stored)
  upstreams.github.faults.clear()
  await expect.poll(archives, wait).toEqual([])
  await expect.poll(() => filesBelow(registry.manifests), wait).toEqual([])
})

it('takes an archive back that was about to be removed when its module returns', async () => {
  await startWatching()
  await expect.poll(archives, wait).toHaveLength(2)
  await expect.poll(statusOf('vpc.status.yaml'), wait).toContain('all 1 are stored')
  const [stored, before] = [archives(), filesNow()]
  breakUpstream()
  renameSync(at('vpc.yaml'), join(registry.dir, 'elsewhere.yaml'))
  await sleep(13_000)
  renameSync(join(registry.dir, 'elsewhere.yaml'), at('vpc.yaml'))
  upstreams.github.faults.clear()
  await sleep(10_000)
  expect(archives()).toEqual(stored)
  expect(filesNow()).toEqual(before)
  watching?.kill('SIGTERM')
  await once(watching as ChildProcess, 'exit')
})
