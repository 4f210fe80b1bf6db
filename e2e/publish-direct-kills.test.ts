import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { depotCommand } from '../cmd/import/import.fixture.ts'
import { bareEnvironment } from '../hack/testbed/environment.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startAs } from '../hack/testbed/server/server.ts'
import { zipOf } from '../pkg/archives/archive/packed.fixture.ts'
import { bytesOf, digestOf, seed } from './killed-registry.fixture.ts'
import { ControlledCluster } from './sync/controlled-cluster.fixture.ts'
import { Random } from './sync/edits/random.fixture.ts'

/* `depot publish --direct` is killed: a server serves all of a version or nothing, and the same command finishes. */

/** `DEPOT_E2E_KILLS=50` raises the number; each takes some seconds. */
const kills = Number(process.env['DEPOT_E2E_KILLS'] || 4)
const platforms = ['darwin_arm64', 'linux_amd64', 'windows_amd64'] as const
const random = new Random(seed)

/** A registry that a person publishes to. */
interface Place {
  readonly registry: Registry
  readonly server: Server
  /** The options for where `depot publish --direct` writes. */
  readonly flags: readonly string[]
  /** Number of written Versions. */
  readonly written: () => Promise<number>
}

interface Asked {
  readonly kind: 'module' | 'provider'
  readonly version: string
}

const wordsOf = ({ kind, version }: Asked) =>
  kind === 'module'
    ? ['module', 'source', '--to', 'team/vpc/aws', '--version', version]
    : ['provider', 'dist', '--to', 'team/cmdb']

/** Writes the files of a version. */
async function build({ dir }: Registry, { kind, version }: Asked): Promise<void> {
  const folder = join(dir, kind === 'module' ? 'source' : 'dist')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  if (kind === 'module') {
    writeFileSync(join(folder, 'main.tf'), `output "v" {\n  value = "${version}"\n}\n`)
    writeFileSync(join(folder, 'picture.bin'), bytesOf(version, 2_000_000))
    return
  }
  for (const platform of platforms) {
    const content = bytesOf(`${version} ${platform}`, 200_000).toString('latin1')
    const zip = await zipOf([{ path: `terraform-provider-cmdb_v${version}`, content }])
    writeFileSync(join(folder, `terraform-provider-cmdb_${version}_${platform}.zip`), zip)
  }
}

function publish({ registry, flags }: Place, asked: Asked) {
  const [node, program] = depotCommand
  const words = ['publish', ...wordsOf(asked), '--direct', ...flags]
  const tmp = join(registry.dir, 'tmp')
  mkdirSync(tmp, { recursive: true })
  const child = spawn(node, [program, ...words], {
    cwd: registry.dir,
    env: { ...bareEnvironment, TMPDIR: tmp },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = (async () => {
    const exited = once(child, 'exit') as Promise<[number | null]>
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [status] = await exited
    return { status, stdout, stderr }
  })()
  return { kill: () => child.kill('SIGKILL'), ended }
}

/** Number of parts that the server serves: platforms, or 1 for a module. */
async function served({ server }: Place, { kind, version }: Asked): Promise<number> {
  const path = kind === 'module' ? 'modules/v1/team/vpc/aws' : 'providers/v1/team/cmdb'
  const answer = await fetch(`${server.url}/depot/${path}/versions`)
  if (answer.status !== 200) return 0
  const list = (await answer.json()) as {
    readonly modules?: readonly { readonly versions: Listed[] }[]
    readonly versions?: Listed[]
  }
  const versions = list.versions ?? list.modules?.flatMap((module) => module.versions) ?? []
  const found = versions.find((one) => one.version === version)
  return found === undefined ? 0 : (found.platforms?.length ?? 1)
}

interface Listed {
  readonly version: string
  readonly platforms?: readonly { readonly os: string; readonly arch: string }[]
}

/** Digests of the archives that the server sends. */
async function handedOut({ server }: Place, { kind, version }: Asked): Promise<readonly string[]> {
  const bytesAt = async (url: URL) => {
    const answer = await fetch(url)
    expect(answer.status).toBe(200)
    return digestOf(Buffer.from(await answer.arrayBuffer()))
  }
  if (kind === 'module') {
    const download = `${server.url}/depot/modules/v1/team/vpc/aws/${version}/download`
    const { headers } = await fetch(download)
    const archive = new URL(headers.get('x-terraform-get') ?? '', download)
    archive.searchParams.delete('archive')
    return [await bytesAt(archive)]
  }
  return Promise.all(
    platforms.map(async (platform) => {
      const path = `providers/v1/team/cmdb/${version}/download/${platform.replace('_', '/')}`
      const answer = await fetch(`${server.url}/depot/${path}`)
      const { download_url: url, shasum } = (await answer.json()) as Record<string, string>
      expect(await bytesAt(new URL(url ?? '', answer.url))).toBe(shasum)
      return shasum ?? ''
    }),
  )
}

/** Polls, and collects counts that are neither all nor nothing. */
function watchHalves(place: Place, asked: Asked) {
  const whole = asked.kind === 'module' ? 1 : platforms.length
  const halves = new Set<number>()
  const over = new AbortController()
  const watching = (async () => {
    while (!over.signal.aborted) {
      const count = await served(place, asked)
      if (count !== 0 && count !== whole) halves.add(count)
      await sleep(5)
    }
  })()
  return {
    whole,
    async stop() {
      over.abort()
      await watching
      return [...halves]
    },
  }
}

/**
 * @param alsoKill kills another process than the command, in half of the cases
 * @returns the kills after which some platforms were written, and others were not
 */
async function survive(place: Place, alsoKill?: () => Promise<void>): Promise<readonly string[]> {
  const { registry } = place
  const half: string[] = []
  for (const kind of ['module', 'provider'] as const) {
    const first = { kind, version: '1.0.0' }
    await build(registry, first)
    const startedMs = performance.now()
    expect(await publish(place, first).ended).toMatchObject({ status: 0, stderr: '' })
    const usualMs = performance.now() - startedMs
    for (let at = 1; at <= kills / 2; at += 1) {
      const asked = { kind, version: `1.${at}.0` }
      await build(registry, asked)
      const watching = watchHalves(place, asked)
      // The Versions are created within a moment, which few random delays hit.
      const isAimed = kind === 'provider' && random.chance(0.6)
      const delayMs = isAimed ? random.below(20) : usualMs * (0.4 + 0.7 * random.next())
      const before = await place.written()
      const run = publish(place, asked)
      const begun = async () => {
        while ((await place.written()) === before) await sleep(1)
      }
      if (isAimed) await Promise.race([begun(), run.ended])
      await sleep(delayMs)
      const isOther = alsoKill !== undefined && random.chance(0.5)
      const what = `${kind} ${asked.version}: ${isOther ? 'the controller' : 'the command'} killed ${delayMs.toFixed(0)} ms after ${isAimed ? 'the first Version' : 'its start'}, seed ${seed}`
      if (isOther) await alsoKill()
      else run.kill()
      await run.ended
      const there = (await place.written()) - before
      if (there > 0 && there < watching.whole) half.push(`${there} of ${what}`)
      const again = await publish(place, asked).ended
      expect({ what, ...again }).toMatchObject({ what, status: 0, stderr: '' })
      await vi.waitUntil(async () => (await served(place, asked)) === watching.whole, {
        timeout: 20_000,
      })
      const digests = await handedOut(place, asked)
      expect({ what, halves: await watching.stop() }).toEqual({ what, halves: [] })
      for (const digest of digests) expect(again.stdout).toContain(digest)
      expect((await publish(place, asked).ended).stdout).toContain('was published already')
    }
  }
  return half
}

/** With this many kills, some leave a half, which the same command finished. */
const leastHalves = kills >= 50 ? 1 : 0

const timeout = 120_000 + kills * 30_000

describe(`after each of ${kills} kills (DEPOT_E2E_SEED=${seed})`, () => {
  it('a server of a folder serves all of a version or nothing', { timeout }, async () => {
    const registry = await new Registry().sign()
    const flags = ['--manifests', registry.manifests, '--archives', registry.archives]
    const server = await startAs(registry, '--anonymous-auth', '--manifests', registry.manifests)
    try {
      const files = join(registry.manifests, 'versions')
      const written = async () =>
        (existsSync(files) ? globSync('**/*.yaml', { cwd: files }) : []).length
      const half = await survive({ registry, server, flags, written })
      expect(half.length).toBeGreaterThanOrEqual(leastHalves)
    } finally {
      await server.stop()
      registry.remove()
    }
  })

  describe('a server of a cluster serves all of a version or nothing', () => {
    let cluster: ControlledCluster
    beforeAll(async () => {
      cluster = await ControlledCluster.start('team')
    })
    afterAll(() => cluster?.stop())

    /** Calls back with a server of the cluster, and the credentials of one of its users. */
    async function withServer(
      kubeconfig: string,
      work: (place: Place) => Promise<readonly string[]>,
    ): Promise<readonly string[]> {
      const registry = await new Registry().sign()
      cluster.archives = registry.archives
      const flags = ['--kubeconfig', kubeconfig, '--archives', registry.archives]
      const from = ['--kubeconfig', cluster.plane.kubeconfigFile, '--storage-grants', '*=*']
      const server = await startAs(registry, '--anonymous-auth', ...from)
      const storageConfig = { fileSystem: { directoryPath: 'team' } }
      await cluster.apply('Module', 'team', 'vpc', {
        spec: { moduleConfig: { name: 'vpc', provider: 'aws', storageConfig } },
      })
      await cluster.apply('Provider', 'team', 'cmdb', {
        spec: { providerConfig: { name: 'cmdb', storageConfig } },
      })
      try {
        const written = async () => (await cluster.list('Version', 'team')).length
        return await work({ registry, server, flags, written })
      } finally {
        await server.stop()
        registry.remove()
        await cluster.plane.admin.send(
          'DELETE',
          '/apis/depot.internal/v1alpha1/namespaces/team/versions',
        )
      }
    }

    it('with credentials that may only create, and without a controller', { timeout }, async () => {
      const { admin } = cluster.plane
      const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/team'
      const rule = (resources: string[], verbs: string[]) => ({
        apiGroups: ['depot.internal'],
        resources,
        verbs,
      })
      const rules = [
        rule(['depots', 'modules', 'providers', 'versions'], ['get', 'list', 'watch']),
        rule(['versions'], ['create']),
      ]
      const name = 'author'
      await admin.request('POST', '/api/v1/namespaces/team/serviceaccounts', { metadata: { name } })
      await admin.request('POST', `${roles}/roles`, { metadata: { name }, rules })
      await admin.request('POST', `${roles}/rolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [{ kind: 'ServiceAccount', namespace: 'team', name }],
      })
      const token = await cluster.plane.serviceAccountToken('team', name)
      const kubeconfig = await cluster.plane.kubeconfig({ token })
      const half = await withServer(kubeconfig, (place) => survive(place))
      expect(half.length).toBeGreaterThanOrEqual(leastHalves)
    })

    it('with a controller, which is also killed', { timeout }, async () => {
      const half = await withServer(cluster.plane.kubeconfigFile, async (place) => {
        let controller = await cluster.startController()
        try {
          const found = await survive(place, async () => {
            process.kill(controller.pid, 'SIGKILL')
            await controller.stop()
            await cluster.forgetLease()
            controller = await cluster.startController()
          })
          await cluster.untilSynced('team', (1 + Math.floor(kills / 2)) * (1 + platforms.length))
          return found
        } finally {
          await controller.stop()
        }
      })
      expect(half.length).toBeGreaterThanOrEqual(leastHalves)
    })
  })
})
