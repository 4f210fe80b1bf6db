import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Registry } from '../testbed/registry/registry.ts'
import { startServer } from '../testbed/server/server.ts'
import { atMost, goalTable } from './goals.ts'

/*
 * From the start of `depot publish` of a module of 1 MB until a server that runs beside it lists the version. Half of the
 * module are bytes that cannot be compressed; the other half is configuration.
 */

const rounds = 10
const depot = join(import.meta.dirname, '../../depot')
const registry = new Registry()
const dir = mkdtempSync(join(tmpdir(), 'depot-bench-publish-'))
const source = join(dir, 'source')

function writeModule(round: number): void {
  mkdirSync(source, { recursive: true })
  const input = (name: string) => `variable "${name}" {\n  type = map(string)\n  default = {}\n}\n`
  for (let file = 0; file < 100; file += 1) {
    const inputs = Array.from({ length: 3 }, (_, at) => input(`input_${file}_${at}`))
    const comment = `# ${'configuration '.repeat(350)}\n`
    writeFileSync(join(source, `file-${file}.tf`), `# ${round}\n${comment}${inputs.join('')}`)
  }
  writeFileSync(join(source, 'picture.bin'), randomBytes(500_000))
}

const server = await startServer(registry)
const isServed = async (version: string): Promise<boolean> => {
  const answer = await fetch(`${server.url}/depot/modules/v1/team/vpc/aws/versions`)
  return (await answer.text()).includes(`"${version}"`)
}

try {
  const times: { publishedMs: number; servedMs: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    writeModule(round)
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
