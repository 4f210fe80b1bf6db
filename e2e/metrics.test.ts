import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { startServer } from '../hack/testbed/server/server.ts'
import { toolPath } from '../hack/testbed/tools.ts'

const samples = join(import.meta.dirname, '../config/samples')
const registry = new Registry()
afterAll(() => registry.remove())

it('promtool finds nothing wrong with the metrics', async () => {
  await registry.sign()
  for (const file of readdirSync(samples).filter((name) => name.endsWith('.yaml'))) {
    registry.writeText(file, readFileSync(join(samples, file), 'utf8'))
  }
  const server = await startServer(registry, '--audit-log', join(registry.dir, 'audit.log'))
  try {
    await fetch(`${server.url}/depot/modules/v1/platform/network/aws/versions`)
    await fetch(`${server.url}/depot/ui/v1/resources`)
    const input = await (await fetch(`${server.adminUrl}/metrics`)).text()
    expect(input).toContain('depot_http_request_duration_seconds_bucket')
    const { status, stdout, stderr } = spawnSync(toolPath('promtool'), ['check', 'metrics'], {
      input,
      encoding: 'utf8',
    })
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' })
  } finally {
    await server.stop()
  }
})
