import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { depotArguments } from '../../hack/testbed/program/command.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { startUpstreams, type Upstreams } from '../../hack/testbed/upstream/upstreams.ts'

/*
 * Stopping `depot sync` while it waits: for an upstream that stalls in the middle of an answer, at any point, and for a
 * program that leaves others behind.
 */

let upstreams: Upstreams
let registry: Registry

beforeEach(async () => {
  upstreams = await startUpstreams()
  registry = new Registry()
  upstreams.github.tag('acme/vpc', 'v1.0.0', { 'main.tf': 'locals {}\n' })
  await upstreams.provider('acme/dns', '2.0.0')
  registry.write('main.yaml', [
    {
      apiVersion: 'depot.internal/v1alpha1',
      kind: 'Depot',
      metadata: { name: 'main', namespace: 'team' },
      spec: {
        global: { storageConfig: { fileSystem: { directoryPath: 'depot' } } },
        moduleConfigs: [{ name: 'vpc', provider: 'aws', repoOwner: 'acme' }],
        providerConfigs: [{ name: 'dns', namespace: 'acme' }],
      },
    },
  ])
})
afterEach(async () => {
  await upstreams[Symbol.asyncDispose]()
  registry.remove()
})

/** A folder for programs that take precedence over those of this machine. */
function programs(): string {
  const dir = join(registry.dir, 'programs')
  mkdirSync(dir, { recursive: true })
  return dir
}

/** A git that leaves a process behind which keeps its output open. @returns the file with its process id */
function lastingGit(): string {
  const pidFile = join(programs(), 'pid')
  const program = `#!${process.execPath}
const { pid } = require('node:child_process').spawn('sleep', ['120'], { detached: true, stdio: 'inherit' })
require('node:fs').writeFileSync(__filename + '.part', String(pid))
require('node:fs').renameSync(__filename + '.part', ${JSON.stringify(pidFile)})
setInterval(() => undefined, 1000)
`
  writeFileSync(join(programs(), 'git'), program, { mode: 0o755 })
  return pidFile
}

/** The log of the last process that was started. */
let logged = ''

function start(...flags: readonly string[]) {
  const { manifests, archives, dir } = registry
  const folders = ['--manifests', manifests, '--archives', archives]
  const spool = ['--spool-dir', join(dir, 'spool')]
  const options = [...folders, ...spool, ...upstreams.flags, ...flags]
  const child = spawn(process.execPath, [...depotArguments('sync'), ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: [programs(), process.env['PATH']].join(delimiter) },
  })
  logged = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    logged += chunk
  })
  return child
}

const stalls = [
  ['the list of tags', 'github', /\/tags/],
  ['an archive of a module', 'github', /tar/],
  ['the versions of a provider', 'registry', /\/versions$/],
  ['the documents of a release', 'registry', /SHA256SUMS/],
  ['an archive of a provider', 'registry', /\.zip$/],
] as const

/**
 * The longest time for stopping, in milliseconds: on a busy machine, as long as the start took. No request deadline applies.
 */
const boundMs = (startMs: number) => Math.min(Math.max(5_000, startMs), 50_000)

const runs = [
  {
    command: 'depot sync',
    flags: [],
    status: 130,
    says: 'stopped, run the same command again to go on',
  },
  { command: 'depot sync --watch', flags: ['--watch'], status: 0, says: '' },
]

describe.each(runs)('$command', ({ flags, status, says }) => {
  it.each(stalls)('ends while the upstream delays %s', async (_, upstream, path) => {
    upstreams[upstream].faults.on(path, 'stall')
    const spawnedMs = performance.now()
    const child = start(...flags)
    const output = text(child.stdout)
    const asked = () => upstreams[upstream].asked.filter((url) => path.test(url))
    await vi.waitFor(() => expect(asked()).not.toEqual([]), { timeout: 60_000 })
    const beganMs = performance.now()
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([status, null])
    expect(await output).toContain(says)
    expect(performance.now() - beganMs).toBeLessThan(boundMs(beganMs - spawnedMs))
  })

  it('ends after the grace period if what it waits for never ends', async () => {
    const pidFile = lastingGit()
    registry.write('git.yaml', [
      {
        apiVersion: 'depot.internal/v1alpha1',
        kind: 'Module',
        metadata: { name: 'lasting', namespace: 'team' },
        spec: {
          moduleConfig: {
            provider: 'aws',
            source: { type: 'git', url: upstreams.git.urlOf('acme/lasting') },
            storageConfig: { fileSystem: { directoryPath: 'depot' } },
          },
          versions: [{ version: '1.0.0' }],
        },
      },
    ])
    const child = start(...flags, '--log-level=info')
    const output = text(child.stdout)
    const exited = once(child, 'close')
    await vi.waitFor(() => expect(existsSync(pidFile)).toBe(true), { timeout: 60_000 })
    child.kill('SIGINT')
    const ended = await exited
    process.kill(Number(readFileSync(pidFile, 'utf8')))
    expect(ended).toEqual([status, null])
    expect(logged).toContain('work cut off at the end of the grace period')
    expect(await output).toContain(says)
  })
})
