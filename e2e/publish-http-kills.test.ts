import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  bytesOf,
  digestOf,
  KilledRegistry,
  type Published,
  seed,
  victims,
} from './killed-registry.fixture.ts'

/*
 * Publishing a module over HTTP while the client, the server or the controller is killed: the whole version exists, or
 * nothing.
 */

/** `DEPOT_E2E_KILLS=50` raises the number; each takes some seconds. Six kill each victim early and late. */
const kills = Number(process.env['DEPOT_E2E_KILLS'] || 6)
const archiveBytes = 4_000_000

const killed = new KilledRegistry()

beforeAll(() => killed.start())
afterAll(() => killed.stop())

/** Writes a module whose archive has the same size and different bytes for each version. */
function writeModule(name: string, version: string): string {
  const dir = join(killed.cwd, name)
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'picture.bin'), bytesOf(`${name} ${version}`, archiveBytes))
  writeFileSync(join(dir, 'main.tf'), `output "v" {\n  value = "${name} ${version}"\n}\n`)
  return name
}

const wordsOf = (folder: string, version: string) =>
  ['module', folder, '--to', 'depot.test/team/vpc/aws', '--version', version] as const

async function versionOf(number: string): Promise<Published | undefined> {
  const found = await killed.versionsOf(number)
  expect(found.length).toBeLessThan(2)
  return found[0]
}

/** The bytes that the server sends; undefined if it lists no such version. */
async function served(version: string): Promise<Buffer | undefined> {
  const download = `/depot/modules/v1/team/vpc/aws/${version}/download`
  const answer = await killed.get(download)
  if (answer.status === 404) return undefined
  expect(answer.status).toBe(204)
  const archive = new URL(answer.headers.get('x-terraform-get') ?? '', killed.url + download)
  archive.search = archive.search.replace(/archive=[^&]*&?/, '')
  return Buffer.from(await (await killed.get(archive.href)).arrayBuffer())
}

it(`has all of a version or nothing after each of ${kills} kills, and the same command finishes (DEPOT_E2E_SEED=${seed})`, {
  timeout: 120_000 + kills * 30_000,
}, async () => {
  writeModule('calm', '1.0.0')
  await killed.finish(...wordsOf('calm', '1.0.0'))
  writeModule('calm', '1.1.0')
  const startedMs = performance.now()
  expect(await killed.publish(...wordsOf('calm', '1.1.0')).ended).toMatchObject({ status: 0 })
  const usualMs = performance.now() - startedMs

  const seen = { nothing: 0, all: 0 }
  for (let at = 0; at < kills; at += 1) {
    const version = `2.${at}.0`
    const victim = victims[at % victims.length] ?? 'client'
    // Each victim at any time of the work, once in each of its equal parts.
    const part = Math.floor(at / victims.length)
    const parts = Math.ceil(kills / victims.length)
    const delayMs = ((part + killed.random.next()) / parts) * usualMs
    const what = `${version}: ${victim} killed after ${delayMs.toFixed(0)} of ${usualMs.toFixed(0)} ms, seed ${seed}`
    const words = wordsOf(writeModule('source', version), version)
    const run = killed.publish(...words)
    await sleep(delayMs)
    if (victim === 'client') run.kill()
    else await killed.killAndRestart(victim)
    const first = await run.ended
    const isThere = (await versionOf(version)) !== undefined
    seen[isThere ? 'all' : 'nothing'] += 1
    // A client with exit code 0 told the truth.
    expect({ what, isThere: isThere || first.status !== 0 }).toEqual({ what, isThere: true })
    const again = await killed.finish(...words)
    const record = await versionOf(version)
    const digest = record?.spec.upload.sha256 ?? 'of a Version'
    const bytes = await served(version)
    expect({ what, ...again, sha256: digestOf(bytes ?? Buffer.alloc(0)) }).toEqual({
      what,
      status: 0,
      stderr: '',
      stdout: expect.stringContaining(digest) as unknown,
      sha256: digest,
    })
  }
  expect(seen.nothing + seen.all).toBe(kills)

  // Nothing is left over, neither in storage nor in the spool of a running controller.
  const versions = await killed.versions()
  expect(versions).toHaveLength(kills + 2)
  expect(killed.cluster.stored('team')).toHaveLength(2 * versions.length)
  await expect.poll(() => killed.spooled()).toEqual([])
})

it('lets one of two concurrent publishers of a version win, tells the other both digests, and accepts the same bytes again', async () => {
  const folders = [writeModule('one', '3.0.0'), writeModule('other', '3.0.1')]
  const publish = (folder: string) => killed.publish(...wordsOf(folder, '3.0.0')).ended
  const runs = await Promise.all(folders.map(publish))
  expect(new Set(runs.map(({ status }) => status))).toEqual(new Set([0, 1]))
  const winner = runs.findIndex(({ status }) => status === 0)
  const sha256 = (await versionOf('3.0.0'))?.spec.upload.sha256 ?? ''
  const refusal = runs[1 - winner]?.stderr ?? ''
  expect(new Set(refusal.match(/[0-9a-f]{64}/g)).size).toBe(2)
  expect(refusal).toContain(sha256)
  const again = await publish(folders[winner] ?? '')
  expect(again).toMatchObject({ status: 0, stderr: '' })
  expect(again.stdout).toContain('it was published already')
  expect(digestOf((await served('3.0.0')) ?? Buffer.alloc(0))).toBe(sha256)
})
