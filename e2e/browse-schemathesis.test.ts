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
/** Each run has other examples. `DEPOT_E2E_SEED` repeats those of one. */
const seed = Number(process.env['DEPOT_E2E_SEED'] || Date.now() % 1_000_000)
/** `DEPOT_E2E_EXAMPLES=100` raises the number for each endpoint, besides those of its document and of its limits. */
const examples = Number(process.env['DEPOT_E2E_EXAMPLES'] || 30)
const checks = [
  ...'run --checks all --phases examples,coverage,fuzzing'.split(' '),
  ...`--max-examples ${examples} --seed ${seed} --continue-on-failure --no-color`.split(' '),
]

it.skipIf(schemathesis === undefined)(
  `answers every request as its OpenAPI document says (DEPOT_E2E_SEED=${seed})`,
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
