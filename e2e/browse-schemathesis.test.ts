import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, inject, it } from 'vitest'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { startServer } from '../hack/testbed/server/server.ts'

const samples = join(import.meta.dirname, '../config/samples')
const schemathesis = inject('schemathesis')
const checks = [
  ...'run --checks all --phases examples,coverage,fuzzing --max-examples 100 --seed 6'.split(' '),
  ...'--continue-on-failure --no-color'.split(' '),
]

it.skipIf(schemathesis === undefined)(
  'answers every request as its OpenAPI document says',
  { timeout: 900_000 },
  async () => {
    const registry = new Registry()
    for (const file of readdirSync(samples).filter((name) => name.endsWith('.yaml')))
      registry.writeText(file, readFileSync(join(samples, file), 'utf8'))
    const server = await startServer(registry)
    try {
      const document = `${server.url}/depot/ui/v1/openapi.json`
      const { code, output } = await run(registry.dir, schemathesis ?? '', [...checks, document])
      expect({ code, problems: code === 0 ? '' : output }).toEqual({ code: 0, problems: '' })
      expect(server.log.filter((line) => line.includes('"level":"error"'))).toEqual([])
    } finally {
      await server.stop()
      registry.remove()
    }
  },
)

async function run(cwd: string, file: string, args: readonly string[]) {
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  return { code, output: output + errors }
}
