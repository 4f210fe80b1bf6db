import { readFileSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findForTests, toolPath } from '../hack/testbed/tools.ts'
import { ScanScene } from '../pkg/fill/scan/scan.fixture.ts'

const checkov = findForTests('Checkov', () => toolPath('checkov'))

describe.skipIf(checkov === undefined)('the documented script for Checkov', () => {
  let scene: ScanScene
  beforeAll(async () => {
    scene = await ScanScene.open()
    const page = readFileSync(join(import.meta.dirname, '../docs/scanning.md'), 'utf8')
    const [, script = ''] =
      /^```python\n#!\/opt\/checkov\/bin\/python\n([^]*?)^```$/m.exec(page) ?? []
    const path = join(scene.folder, 'scanner')
    await writeFile(path, `#!${join(dirname(checkov ?? ''), 'venv/bin/python')}\n${script}`)
    await chmod(path, 0o755)
    const bucket = 'resource "aws_s3_bucket" "logs" {}\nmodule "m" {\n  source = "./m"\n}\n'
    await scene.store('network', [{ path: 'main.tf', content: bucket }])
    await scene.store('labels', [{ path: 'main.tf', content: 'variable "name" {}\n' }])
    const logs = 'resource "aws_s3_bucket" "logs" {\n  #checkov:skip=CKV_AWS_18:not needed\n}\n'
    await scene.store('inline', [{ path: 'main.tf', content: logs }])
    await scene.store('configured', [
      { path: 'main.tf', content: bucket },
      { path: '.checkov.yaml', content: 'skip-check:\n  - CKV*\n' },
    ])
    await scene.store('broken', [{ path: 'main.tf', content: 'resource "x" {{\n' }])
    await scene.store('random', [{ path: 'terraform-provider-random', content: '' }], {
      type: 'Provider',
    })
    await scene.run()
  })
  afterAll(() => scene.close())

  it('finds misconfigurations of modules', async () => {
    expect((await scene.status('network')).sourceScan?.findings).toContainEqual({
      vulnerabilityID: 'CKV_AWS_18',
      pkgName: 'aws_s3_bucket.logs',
      installedVersion: '',
      severity: 'UNKNOWN',
      title: 'Ensure the S3 bucket has access logging enabled',
    })
    expect((await scene.status('labels')).sourceScan?.findings).toEqual([])
  })

  it.each(['inline', 'configured'])(
    'finds them in a module that tells it to skip them: %s',
    async (name) => {
      expect((await scene.status(name)).sourceScan?.findings).toContainEqual(
        expect.objectContaining({ vulnerabilityID: 'CKV_AWS_18' }),
      )
    },
  )

  it.each([
    ['broken', 'Checkov could not parse 1 files'],
    ['random', 'Checkov scans modules only: set --scan-providers=false'],
  ])('does not call %s clean', async (name, words) => {
    expect((await scene.scanned(name)).status).toBe('False')
    expect((await scene.scanned(name)).message).toContain(words)
    expect((await scene.status(name)).sourceScan).toBeUndefined()
  })
})
