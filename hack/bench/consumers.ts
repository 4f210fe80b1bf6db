import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SqliteStore } from '../../pkg/registry/downloads/downloads.ts'
import { residentMb } from './cpu.ts'
import { atMost, goalTable } from './goals.ts'

/*
 * The consumers of 10,000 modules with 1,000 consumers each, over 90 days, in SQLite. By default a tenth of the modules is
 * filled, and the size is multiplied: the file grows with the pairs alone. Run it with --max-semi-space-size=4: servers keep that size.
 */

const { values } = parseArgs({ options: { modules: { type: 'string', default: '1000' } } })
const modules = Number(values.modules)
const consumers = 1_000
const wanted = 10_000
const batchUses = 500
const dir = mkdtempSync(join(tmpdir(), 'depot-bench-consumers-'))
const path = join(dir, 'stats.db')
const today = Math.floor(Date.now() / 86_400_000)
const store = new SqliteStore({ path, clock: Date.now })

try {
  const before = residentMb(process.pid).now
  const startedMs = performance.now()
  const pairs = modules * consumers
  let last = 0
  // Every pair in an order that jumps, on an early and a late day.
  for (const day of [today - 80, today - 1]) {
    for (let at = 0; at < pairs; at += batchUses) {
      const uses = Array.from({ length: Math.min(batchUses, pairs - at) }, (_, index) => {
        const pair = ((at + index) * 7_919) % pairs
        const consumer = pair % consumers
        return {
          kind: 'Module' as const,
          namespace: 'platform',
          name: `module-${Math.floor(pair / consumers)}`,
          version: `1.${consumer % 7}.0`,
          consumer: `group:team-${consumer}-${pair % 13}`,
          day,
        }
      })
      const batch = { journal: 'bench', after: last, last: last + 1, archives: [], hours: [], uses }
      last = await store.apply(batch)
    }
  }
  const seconds = (performance.now() - startedMs) / 1000
  const askedMs = performance.now()
  const found = await store.consumers({ kind: 'Module', namespace: 'platform', name: 'module-7' })
  const readMs = performance.now() - askedMs
  const grown = residentMb(process.pid).highest - before
  await store.close()
  const megabytes = ((statSync(path).size / 1e6) * wanted) / modules
  const perUse = ((seconds / (2 * pairs)) * 1e6).toFixed(0)
  console.log(
    goalTable([
      atMost('consumers of 10,000 modules x 1,000 x 90 days, MB on disk', 400, megabytes),
      atMost('the same, MB of memory', 60, grown, `${perUse} us a use, ${modules} modules filled`),
      atMost('consumers of one module, ms', 20, readMs, `${found.length} rows`),
    ]),
  )
} finally {
  rmSync(dir, { recursive: true })
}
