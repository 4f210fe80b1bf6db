import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findForTests, toolPath } from '../hack/testbed/tools.ts'
import { conditionOf } from '../pkg/api/v1alpha1/v1alpha1.ts'
import { ScanScene } from '../pkg/fill/scan/scan.fixture.ts'
import { trivyScanner } from '../pkg/fill/scan/scan.ts'

/* Trivy with a damaged database, and with files that try to end it or to hide something. */

const tools = findForTests('Trivy', () => ({
  command: toolPath('trivy'),
  database: toolPath('trivy-db'),
}))

let scene: ScanScene
beforeEach(async () => {
  scene = await ScanScene.open()
})
afterEach(() => scene.close())

describe.skipIf(tools === undefined)('Trivy', () => {
  const { command = '', database = '' } = tools ?? {}
  const cacheDir = () => join(scene.folder, 'cache')
  const databaseFile = () => join(cacheDir(), 'db/trivy.db')
  const run = () =>
    scene.run({
      scanner: trivyScanner({ command, cacheDir: cacheDir(), isOffline: true }),
      deadlineMs: 60_000,
    })
  const goMod = (...lines: string[]) =>
    ['module example.test/random', 'go 1.24', ...lines, ''].join('\n')
  const vulnerable = 'require go.etcd.io/bbolt v1.4.0'
  const findings = async () => (await scene.status('random')).sourceScan?.findings ?? []
  const scanned = async () => conditionOf(await scene.status('random'), 'SourceScanned')

  it('calls nothing clean with an incomplete or damaged database', async () => {
    execFileSync(database, [cacheDir(), 'v99.0.0'])
    cpSync(cacheDir(), `${cacheDir()}-whole`, { recursive: true })
    await scene.storeSource('random', goMod(vulnerable))
    await run()
    const before = await findings()
    expect(before).toMatchObject([{ vulnerabilityID: 'CVE-2026-0001' }])
    const size = statSync(databaseFile()).size
    const damages = {
      half: () => truncateSync(databaseFile(), Math.floor(size / 2)),
      page: () => truncateSync(databaseFile(), 4096),
      empty: () => truncateSync(databaseFile(), 0),
      zeros: () => writeFileSync(databaseFile(), Buffer.alloc(size)),
      noise: () => writeFileSync(databaseFile(), randomBytes(size)),
      gone: () => rmSync(databaseFile()),
      metadata: () => truncateSync(join(cacheDir(), 'db/metadata.json'), 10),
      folder: () => rmSync(join(cacheDir(), 'db'), { recursive: true }),
    }
    const results: Record<string, unknown> = {}
    for (const [name, damage] of Object.entries(damages)) {
      rmSync(cacheDir(), { recursive: true })
      cpSync(`${cacheDir()}-whole`, cacheDir(), { recursive: true })
      damage()
      // A new archive has to be scanned, whatever the database is.
      await scene.storeSource('random', goMod(vulnerable, `// ${name}`))
      await run()
      const { sourceScan, dependencyScan } = await scene.status('random')
      const condition = await scanned()
      results[name] = [condition?.status, sourceScan?.findings, dependencyScan?.counts.critical]
    }
    const unknown = ['False', undefined, undefined]
    expect(results).toEqual(Object.fromEntries(Object.keys(damages).map((key) => [key, unknown])))
  }, 300_000)

  it.each([
    [
      'thousands of requirements',
      () => Array.from({ length: 5_000 }, (_, i) => `require a.test/m${i} v1.0.0`),
    ],
    [
      'control characters and markup',
      () => [
        'require a.test/<script> v1.0.0',
        'require a.test/\u001b[31m v1.0.0',
        'require a.test/\u202e v1.0.0',
      ],
    ],
    ['random bytes', () => [randomBytes(1000).toString('latin1')]],
    [
      'a replacement by a folder outside',
      () => ['require a.test/b v1.0.0', 'replace a.test/b => ../../../../../../etc'],
    ],
    ['a block without end', () => ['require (', '\ta.test/b v1.0.0']],
    ['a line of a megabyte', () => [`// ${'x'.repeat(1024 * 1024)}`]],
  ])('survives go.mod with %s, and hides no finding because of it', async (_, lines) => {
    execFileSync(database, [cacheDir(), 'v99.0.0'])
    await scene.storeSource('random', goMod(vulnerable, ...lines()))
    await run()
    const condition = await scanned()
    // Either the vulnerable package is found, or nothing counts as scanned.
    const found = (await findings()).map(({ vulnerabilityID }) => vulnerabilityID)
    expect([found, condition?.status === 'True']).toEqual(
      condition?.status === 'True' ? [['CVE-2026-0001'], true] : [[], false],
    )
    expect(JSON.stringify(await scene.status('random'))).not.toMatch(/\\u001b|\u202e/)
  })

  it('looks into every folder of a module', async () => {
    const folders = ['dev', 'proc', 'sys', 'vendor', 'node_modules', 'x/dev']
    const bucket = (index: number) => `resource "aws_s3_bucket" "b${index}" {}\n`
    const files = folders.map((folder, index) => ({
      path: `${folder}/main.tf`,
      content: bucket(index),
    }))
    await scene.store('network', [{ path: 'main.tf', content: 'locals {}\n' }, ...files])
    expect((await run()).failures()).toEqual([])
    const found = (await scene.status('network')).sourceScan?.findings.map((one) => one.pkgName)
    expect(found).toEqual(expect.arrayContaining(folders.map((_, i) => `aws_s3_bucket.b${i}`)))
  })

  it('does not call a module clean that ends it', async () => {
    const deep = `locals {\n  a = ${'['.repeat(100_000)}${']'.repeat(100_000)}\n}\n`
    const open = 'resource "aws_s3_bucket" "logs" {}\n'
    await scene.store('network', [
      { path: 'deep.tf', content: deep },
      { path: 'main.tf', content: open },
    ])
    await run()
    const { status } = await scene.scanned('network')
    const ids = (await scene.status('network')).sourceScan?.findings.map(
      (one) => one.vulnerabilityID,
    )
    expect(status === 'True' ? ids : ['AWS-0086']).toContain('AWS-0086')
  })
})
