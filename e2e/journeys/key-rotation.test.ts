import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { writeSamples } from '../../hack/testbed/registry/samples.ts'
import { startServer } from '../../hack/testbed/server/server.ts'

const registry = new Registry()
afterAll(() => registry.remove())

const configuration = `
  terraform {
    required_providers {
      hello = { source = "depot.test/platform/hello" }
    }
  }
  resource "hello_greeting" "it" { name = "rotation" }`

describe.each(clis)('with $name', ({ path }) => {
  it.skipIf(path === undefined)(
    'a lock file is still valid after the signing key was replaced',
    async () => {
      await writeSamples(registry, ['hello.yaml'])
      await registry.sign()
      const server = await startServer(registry)
      try {
        const workspace = new Workspace(path, server.url, configuration)
        const before = await registry.keyId()
        expect((await workspace.must('init')).output).toContain(`key ID ${before}`)
        const lockFile = workspace.lockFile()

        await registry.sign()
        const after = await registry.keyId()
        expect(after).not.toBe(before)
        await expect.poll(() => server.log.join('\n')).toContain('signing key replaced')

        rmSync(join(workspace.dir, '.terraform'), { recursive: true })
        expect((await workspace.must('init')).output).toContain(`key ID ${after}`)
        expect(workspace.lockFile()).toBe(lockFile)
        await workspace.must('init', '-upgrade')
        expect(workspace.lockFile()).toBe(lockFile)
        await workspace.must('apply', '-auto-approve')
      } finally {
        await server.stop()
      }
    },
  )
})
