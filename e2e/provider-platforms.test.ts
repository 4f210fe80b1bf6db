import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { clis, Workspace } from '../hack/testbed/cli/cli.ts'
import { zipOf } from '../hack/testbed/registry/archives.ts'
import { providerObjects, Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../hack/testbed/server/server.ts'

/* A provider in Go, as people publish it: a binary for each platform. */

const stamp = inject('stamp')
const registry = new Registry()
const sha256 = new Map<string, string>()
let server: Server
let keyId: string

const fileNameOf = (platform: string) => `terraform-provider-stamp_1.0.0_${platform}.zip`

beforeAll(async () => {
  await registry.sign()
  keyId = await registry.keyId()
  for (const [platform, binary] of Object.entries(stamp ?? {})) {
    const entry = {
      path: 'terraform-provider-stamp_v1.0.0',
      content: readFileSync(binary),
      executable: true,
    }
    const archive = await zipOf([entry])
    registry.archive(`providers/stamp/${fileNameOf(platform)}`, archive)
    sha256.set(platform, createHash('sha256').update(archive).digest('hex'))
  }
  const platforms = Object.fromEntries(
    Array.from(sha256.keys(), (platform) => [platform, { fileName: fileNameOf(platform) }]),
  )
  registry.write('stamp.yaml', providerObjects({ name: 'stamp', version: '1.0.0', platforms }))
  server = await startServer(registry)
  return server.stop
})
afterAll(() => registry.remove())

const stampConfiguration = `
  terraform {
    required_providers {
      stamp = { source = "depot.test/platform/stamp" }
    }
  }
  data "stamp_release" "it" {}
  resource "stamp_note" "it" { text = "from \${data.stamp_release.it.version}" }
  output "text" { value = stamp_note.it.text }
  output "written_by" { value = stamp_note.it.written_by }`

describe.each(clis)('a provider for several platforms, with $name', ({ path, trust }) => {
  const able = path !== undefined && stamp !== undefined

  it.runIf(able)(
    'verifies a signed provider, locks it for all platforms, and applies it',
    async () => {
      const workspace = new Workspace(path, server.url, stampConfiguration)
      const { output } = await workspace.must('init')
      expect(output).toContain(
        `Installed depot.test/platform/stamp v1.0.0 (${trust}, key ID ${keyId})`,
      )
      expect(workspace.installed().filter(isProvider)).toHaveLength(1)
      for (const hash of sha256.values()) expect(workspace.lockFile()).toContain(`"zh:${hash}"`)
      expect(await workspace.apply()).toEqual({ text: 'from 1.0.0', written_by: '1.0.0' })
      await workspace.must('destroy', '-auto-approve')
    },
  )

  it.runIf(able)('creates a lock file for other platforms', async () => {
    const workspace = new Workspace(path, server.url, stampConfiguration)
    await workspace.must('providers', 'lock', '-platform=linux_amd64', '-platform=linux_arm64')
    expect(await workspace.run('init', '-lockfile=readonly')).toMatchObject({ code: 0 })
  })
})

const isProvider = (file: string): boolean => file.includes('terraform-provider-')
