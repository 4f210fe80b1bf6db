import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findForTests, toolPath } from '../hack/testbed/tools.ts'
import { ScanScene } from '../pkg/fill/scan/scan.fixture.ts'
import { trivyScanner } from '../pkg/fill/scan/scan.ts'
import { startCanary } from './canary.fixture.ts'

/* Trivy on systems without network namespaces, as in most pods. */

vi.mock(import('node:child_process'), async (original) => {
  const real = await original()
  const spawnSync = (...args: Parameters<typeof real.spawnSync>) =>
    args[0] === '/usr/bin/unshare' ? real.spawnSync('false') : real.spawnSync(...args)
  return { ...real, spawnSync: spawnSync as typeof real.spawnSync }
})

const command = findForTests('Trivy', () => toolPath('trivy'))
let scene: ScanScene
beforeEach(async () => {
  scene = await ScanScene.open()
})
afterEach(() => scene.close())

describe.skipIf(command === undefined)('Trivy without a network of its own', () => {
  /** How often the sources of a module were contacted. */
  async function askedBy(isOffline: boolean): Promise<number> {
    await using canary = await startCanary()
    const content = `resource "aws_s3_bucket" "logs" {}\n${canary.module}`
    await scene.store('network', [{ path: 'main.tf', content }])
    const cacheDir = join(scene.folder, 'cache')
    const scanner = trivyScanner({ command: command ?? '', cacheDir, isOffline })
    expect((await scene.run({ scanner, isOffline })).failures()).toEqual([])
    return canary.asked()
  }

  it('contacts no source of a module offline, and contacts them otherwise', async () => {
    expect(await askedBy(true)).toBe(0)
    await scene.close()
    scene = await ScanScene.open()
    expect(await askedBy(false)).toBeGreaterThan(0)
  })
})
