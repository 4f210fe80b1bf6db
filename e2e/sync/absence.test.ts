import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { depotArguments } from '../../hack/testbed/program/command.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { startUpstreams, type Upstreams } from '../../hack/testbed/upstream/upstreams.ts'

/*
 * A manifest is missing for a while, as during a checkout of another branch or an edit. Times matter here, because the
 * forbidden effects would happen seconds later.
 */

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

/** A folder with one module, its upstream, and `depot sync --watch` over both. */
class Watched implements AsyncDisposable {
  readonly upstreams: Upstreams
  readonly registry = new Registry()
  readonly process: ChildProcess

  private constructor(upstreams: Upstreams) {
    this.upstreams = upstreams
    upstreams.github.tag('acme/vpc', 'v1.0.0', { 'main.tf': 'locals {}\n' })
    writeFileSync(this.manifest, module)
    const { manifests, archives, dir } = this.registry
    const folders = ['--manifests', manifests, '--archives', archives]
    const spool = ['--spool-dir', join(dir, 'spool')]
    const options = [...folders, ...spool, ...upstreams.flags, '--removal-grace=0s', '--watch']
    this.process = spawn(process.execPath, [...depotArguments('sync'), ...options], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }

  /** Starts it, and waits until the archive is stored and the folder says so. */
  static async start(): Promise<Watched> {
    const watched = new Watched(await startUpstreams())
    const has = (name: string, text: string) => () => {
      const file = join(watched.registry.manifests, name)
      return existsSync(file) && readFileSync(file, 'utf8').includes(text)
    }
    await vi.waitUntil(() => watched.archives().length === 2, wait)
    await vi.waitUntil(has('vpc.status.yaml', 'all 1 are stored'), wait)
    await vi.waitUntil(has('.depot-removals/stored.json', 'vpc-1-0-0'), wait)
    return watched
  }

  get manifest(): string {
    return join(this.registry.manifests, 'vpc.yaml')
  }

  /** An archive and its documentation. */
  readonly archives = (): string[] => filesBelow(this.registry.archives)

  /** Each file with what changes when it is written. */
  filesNow(): readonly (readonly [file: string, written: string])[] {
    const { manifests } = this.registry
    return filesBelow(manifests).map((file) => {
      const { ino, mtimeNs } = statSync(join(manifests, file), { bigint: true })
      return [file, `${ino} ${mtimeNs}`]
    })
  }

  /** Moves the manifest out of the folder while upstream is unreachable. */
  loseModule(): void {
    this.upstreams.github.faults.on(/./, 'error')
    renameSync(this.manifest, join(this.registry.dir, 'elsewhere.yaml'))
  }

  returnModule(): void {
    renameSync(join(this.registry.dir, 'elsewhere.yaml'), this.manifest)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill('SIGKILL')
    await this.upstreams[Symbol.asyncDispose]()
    this.registry.remove()
  }
}

const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(dir.length + 1))
    .toSorted()

const wait = { timeout: 90_000, interval: 50 }

// They mostly wait, and share nothing.
describe.concurrent('an archive', () => {
  it('stays if its module is missing for 1.5 seconds while upstream is unreachable', async () => {
    await using watched = await Watched.start()
    const [stored, before] = [watched.archives(), watched.filesNow()]
    watched.loseModule()
    await sleep(1_500)
    watched.returnModule()
    await sleep(15_000)
    expect(watched.archives()).toEqual(stored)
    expect(watched.filesNow()).toEqual(before)
    expect(readFileSync(watched.manifest, 'utf8')).toBe(module)
  })

  it('stays while upstream is unreachable, and is removed once it can be asked', async () => {
    await using watched = await Watched.start()
    const stored = watched.archives()
    watched.loseModule()
    await sleep(20_000)
    expect(watched.archives()).toEqual(stored)
    watched.upstreams.github.faults.clear()
    await vi.waitFor(() => expect(watched.archives()).toEqual([]), wait)
    await vi.waitFor(() => expect(filesBelow(watched.registry.manifests)).toEqual([]), wait)
  })

  it('is kept if its module returns when it was about to be removed', async () => {
    await using watched = await Watched.start()
    const [stored, before] = [watched.archives(), watched.filesNow()]
    watched.loseModule()
    await sleep(13_000)
    watched.returnModule()
    watched.upstreams.github.faults.clear()
    await sleep(10_000)
    expect(watched.archives()).toEqual(stored)
    expect(watched.filesNow()).toEqual(before)
    watched.process.kill('SIGTERM')
    await once(watched.process, 'exit')
  })
})
