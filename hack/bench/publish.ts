import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Registry } from '../testbed/registry/registry.ts'
import { startServer } from '../testbed/server/server.ts'
import { atMost, goalTable } from './goals.ts'
import { writeModuleSource } from './module-source.ts'

/*
 * From the start of `depot publish` of a module of 1 MB until a server that runs beside it lists the version.
 */

const rounds = 10
const depot = join(import.meta.dirname, '../../depot')
const registry = new Registry()
const dir = mkdtempSync(join(tmpdir(), 'depot-bench-publish-'))
const source = join(dir, 'source')

const server = await startServer(registry)
const isServed = async (version: string): Promise<boolean> => {
  const answer = await fetch(`${server.url}/depot/modules/v1/team/vpc/aws/versions`)
  return (await answer.text()).includes(`"${version}"`)
}

try {
  const times: { publishedMs: number; servedMs: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    writeModuleSource(source, String(round))
    const version = `1.${round}.0`
    const to = ['--to', 'team/vpc/aws', '--version', version, '--direct']
    const folders = ['--manifests', registry.manifests, '--archives', registry.archives]
    const startedMs = performance.now()
    await promisify(execFile)(depot, ['publish', 'module', source, ...to, ...folders])
    const publishedMs = performance.now() - startedMs
    while (!(await isServed(version))) await sleep(5)
    times.push({ publishedMs, servedMs: performance.now() - startedMs })
  }
  const middle = (key: 'publishedMs' | 'servedMs') =>
    times.map((time) => time[key]).toSorted((a, b) => a - b)[rounds / 2] ?? 0
  const slowest = Math.max(...times.map(({ servedMs }) => servedMs))
  const also = `the command ends after ${(middle('publishedMs') / 1000).toFixed(2)}; slowest ${(slowest / 1000).toFixed(2)}`
  const what = 'depot publish of 1 MB until it is served, median of ten, s'
  console.log(goalTable([atMost(what, 2, middle('servedMs') / 1000, also)]))
} finally {
  await server.stop()
  registry.remove()
  rmSync(dir, { recursive: true })
}
