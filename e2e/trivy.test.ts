import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findForTests, toolPath } from '../hack/testbed/tools.ts'
import { conditionOf } from '../pkg/api/v1alpha1/v1alpha1.ts'
import { createMetrics } from '../pkg/base/telemetry/telemetry.ts'
import { ScanScene } from '../pkg/fill/scan/scan.fixture.ts'
import { trivyScanner } from '../pkg/fill/scan/scan.ts'
import { startCanary } from './canary.fixture.ts'

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
  const run = (metrics = createMetrics({ version: 'test' })) => {
    const cacheDir = join(scene.folder, 'cache')
    return scene.run({ scanner: trivyScanner({ command, cacheDir, isOffline: true }), metrics })
  }
  /** Lists bbolt as vulnerable before a version. */
  const writeDatabase = async (version: string) => {
    await rm(join(scene.folder, 'cache'), { recursive: true, force: true })
    execFileSync(database, [join(scene.folder, 'cache'), version])
  }
  const provider = (content: Buffer | string) =>
    scene.store('random', [{ path: 'terraform-provider-random_v1.0.0', content }], {
      type: 'Provider',
    })

  it('finds misconfigurations of a module by its own checks, and contacts no source of a module', async () => {
    await using canary = await startCanary()
    const content = `resource "aws_s3_bucket" "logs" {}\n${canary.module}`
    await scene.store('network', [{ path: 'main.tf', content }])
    expect((await run()).failures()).toEqual([])
    const { sourceScan, scan } = await scene.status('network')
    expect(sourceScan?.findings).toContainEqual({
      vulnerabilityID: 'AWS-0086',
      pkgName: 'aws_s3_bucket.logs',
      installedVersion: '',
      severity: 'HIGH',
      title: 'S3 Access block should block public ACL',
    })
    expect(scan).toMatchObject({ scanner: 'trivy 0.70.0', database: 'embedded checks' })
    expect((await scene.scanned('network')).message).toMatch(
      /^\d+ high, .*, by trivy 0\.70\.0 with the database of embedded checks$/,
    )
    expect(canary.asked()).toBe(0)
    expect((await run()).done).toBe(0)
  })

  it('reports findings that the module asks to omit', async () => {
    const content = '#trivy:ignore:*\n#tfsec:ignore:*\nresource "aws_s3_bucket" "logs" {}\n'
    const files = [
      { path: 'main.tf', content },
      { path: '.trivyignore', content: 'AWS-0086\n' },
    ]
    await scene.store('network', files)
    expect((await run()).failures()).toEqual([])
    expect((await scene.status('network')).sourceScan?.findings).toContainEqual(
      expect.objectContaining({ vulnerabilityID: 'AWS-0086', pkgName: 'aws_s3_bucket.logs' }),
    )
  })

  it('finds vulnerable packages in the binary of a provider, and again with another database', async () => {
    await writeDatabase('v99.0.0')
    await provider(readFileSync(database))
    const metrics = createMetrics({ version: 'test' })
    expect((await run(metrics)).failures()).toEqual([])
    const [, seconds] =
      /^depot_scan_database_timestamp_seconds (\S+)$/m.exec(await metrics.metrics()) ?? []
    expect(Math.abs(Number(seconds) * 1000 - Date.now())).toBeLessThan(3_600_000)
    expect(await metrics.metrics()).toContain('depot_scans_total{result="Scanned"} 1')
    expect((await scene.status('random')).binaryScan?.findings).toEqual([
      {
        vulnerabilityID: 'CVE-2026-0001',
        pkgName: 'go.etcd.io/bbolt',
        installedVersion: expect.stringMatching(/^v1\./),
        fixedVersion: 'v99.0.0',
        severity: 'CRITICAL',
        title: 'A page is freed twice',
      },
    ])
    await writeDatabase('v0.0.1')
    expect((await run()).done).toBe(0)
    scene.aheadMs = 30 * 3_600_000
    expect((await run()).done).toBe(1)
    expect((await scene.status('random')).binaryScan?.findings).toEqual([])
  })

  it('finds vulnerable packages in go.mod of a provider, and none if it recognises none', async () => {
    await writeDatabase('v99.0.0')
    const require = 'require go.etcd.io/bbolt v1.4.0'
    await scene.storeSource('random', `module example.test/random\n\ngo 1.24\n\n${require}\n`)
    expect((await run()).failures()).toEqual([])
    const { sourceScan, dependencyScan } = await scene.status('random')
    expect(sourceScan?.findings).toMatchObject([
      { vulnerabilityID: 'CVE-2026-0001', pkgName: 'go.etcd.io/bbolt', installedVersion: 'v1.4.0' },
    ])
    expect(dependencyScan?.counts).toMatchObject({ critical: 1 })
    await scene.storeSource('random', 'not a go.mod\n')
    await run()
    expect(conditionOf(await scene.status('random'), 'SourceScanned')).toMatchObject({
      reason: 'NothingRecognised',
      message: 'trivy recognised no packages in go.mod and go.sum',
    })
    expect((await scene.status('random')).sourceScan).toBeUndefined()
  })

  it('fails without a database, and says how to get one', async () => {
    await provider(readFileSync(database))
    const metrics = createMetrics({ version: 'test' })
    expect((await run(metrics)).done).toBe(0)
    expect(await metrics.metrics()).not.toMatch(/^depot_scan_database_timestamp_seconds /m)
    expect(await scene.scanned('random')).toMatchObject({
      status: 'False',
      message: expect.stringMatching(
        /^trivy has no vulnerability database in .*--download-db-only/,
      ),
    })
    expect((await scene.status('random')).binaryScan).toBeUndefined()
  })

  it('calls nothing clean that it did not recognise', async () => {
    await writeDatabase('v99.0.0')
    const files = [
      { path: 'terraform-provider-random_v1.0.0', content: '#!/bin/sh\n' },
      { path: 'node_modules/a/package.json', content: '{"name":"a","version":"1.0.0"}' },
      { path: 'licenses/program', content: readFileSync(database) },
    ]
    await scene.store('random', files, { type: 'Provider' })
    await run()
    expect(await scene.scanned('random')).toEqual({
      status: 'Unknown',
      reason: 'NothingRecognised',
      message: 'trivy recognised no packages in terraform-provider-random_v1.0.0',
    })
    expect((await scene.status('random')).binaryScan).toBeUndefined()
  })
})
