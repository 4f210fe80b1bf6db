import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { zipOf } from '../pkg/archives/archive/packed.fixture.ts'
import { bytesOf, digestOf, KilledRegistry, seed, victims } from './killed-registry.fixture.ts'

/* Publishing a provider over HTTP while the client, the server or the controller is killed: all platforms are served, or none. */

/** `DEPOT_E2E_KILLS=50` raises the number; each takes some seconds. */
const kills = Number(process.env['DEPOT_E2E_KILLS'] || 6)
const zipBytes = 500_000
const platforms = ['darwin_arm64', 'linux_amd64', 'windows_amd64'] as const

const killed = new KilledRegistry()

beforeAll(() => killed.start())
afterAll(() => killed.stop())

/** Writes the zips of a version. */
async function build(version: string, content: string): Promise<void> {
  const stem = `terraform-provider-cmdb_${version}`
  const dist = join(killed.cwd, 'dist')
  rmSync(dist, { recursive: true, force: true })
  mkdirSync(dist)
  const sums: string[] = []
  for (const platform of platforms) {
    const binary = bytesOf(`${version} ${content} ${platform}`, zipBytes)
    const zip = await zipOf([
      { path: `terraform-provider-cmdb_v${version}`, content: binary.toString('latin1') },
    ])
    writeFileSync(join(dist, `${stem}_${platform}.zip`), zip)
    sums.push(`${digestOf(zip)}  ${stem}_${platform}.zip\n`)
  }
  writeFileSync(join(dist, `${stem}_SHA256SUMS`), sums.join(''))
}

const words = ['provider', 'dist', '--to', 'depot.test/team/cmdb'] as const

interface Listed {
  readonly versions: readonly { readonly version: string; readonly platforms: unknown[] }[]
}

/** Number of platforms that the server lists; undefined while it cannot be reached. */
async function served(version: string): Promise<number | undefined> {
  const answer = await killed.get('/depot/providers/v1/team/cmdb/versions').catch(() => undefined)
  if (answer?.status !== 200) return undefined
  const { versions } = (await answer.json()) as Listed
  return versions.find((one) => one.version === version)?.platforms.length ?? 0
}

async function untilBegun(version: string): Promise<void> {
  while (!(await killed.versions()).some(({ spec }) => spec.version === version)) await sleep(1)
}

/** Polls how many platforms are served. */
function watchServed(version: string) {
  const seen = new Set<number>()
  const over = new AbortController()
  const watching = (async () => {
    while (!over.signal.aborted) {
      const count = await served(version)
      if (count !== undefined) seen.add(count)
      await sleep(2)
    }
  })()
  return {
    async stop() {
      over.abort()
      await watching
      return [...seen].filter((count) => count !== 0 && count !== platforms.length)
    },
  }
}

it(`serves all platforms of a release or none at each moment of ${kills} kills, and the same command finishes (DEPOT_E2E_SEED=${seed})`, {
  timeout: 120_000 + kills * 30_000,
}, async () => {
  await build('1.0.0', 'calm')
  await killed.finish(...words)
  await build('1.1.0', 'calm')
  const startedMs = performance.now()
  expect(await killed.publish(...words).ended).toMatchObject({ status: 0 })
  const usualMs = performance.now() - startedMs

  const halves: string[] = []
  for (let at = 0; at < kills; at += 1) {
    const version = `2.${at}.0`
    await build(version, 'killed')
    const victim = killed.random.pick(victims)
    // The Versions are created within a moment, which few random delays hit.
    const isAimed = killed.random.next() < 0.6
    const delayMs = killed.random.next() * (isAimed ? 20 : usualMs)
    const when = `${delayMs.toFixed(0)} ms after ${isAimed ? 'the first Version' : 'the start'}`
    const what = `${version}: ${victim} killed ${when}, seed ${seed}`
    const watching = watchServed(version)
    const run = killed.publish(...words)
    if (isAimed) await Promise.race([untilBegun(version), run.ended])
    await sleep(delayMs)
    if (victim === 'client') run.kill()
    else await killed.killAndRestart(victim)
    const first = await run.ended
    const there = (await killed.versionsOf(version)).length
    if (there > 0 && there < platforms.length) halves.push(`${there} of ${what}`)
    // A client with exit code 0 told the truth.
    const isTrue = there === platforms.length || first.status !== 0
    expect({ what, isTrue }).toEqual({ what, isTrue: true })
    const again = await killed.finish(...words)
    expect({ what, ...again }).toMatchObject({ what, status: 0, stderr: '' })
    const count = await vi.waitUntil(() => served(version))
    expect({ what, count, half: await watching.stop() }).toEqual({ what, count: 3, half: [] })
    expect(await killed.versionsOf(version)).toHaveLength(platforms.length)
  }
  expect(await killed.versions()).toHaveLength(platforms.length * (kills + 2))
  // With this many kills, some leave a half, which the same command finished.
  expect(halves.length).toBeGreaterThanOrEqual(kills >= 50 ? 1 : 0)
})
