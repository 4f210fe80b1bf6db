import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { request } from 'undici'
import { type ExplorerProcess, startExplorer } from '../testbed/explorer/explorer.ts'
import { writeBarePages } from '../testbed/explorer/pages.ts'
import { moduleObjects, Registry } from '../testbed/registry/registry.ts'
import { type Server, startServer } from '../testbed/server/server.ts'
import { median } from './rounds.ts'

/*
 * Measures the cost of the explorer as the entrance of a deployment: archives of 100 MB from the server and by way of the explorer, in
 * turn, and the processor time that each process took for them.
 */

const largeBytes = 100_000_000
const rounds = 7

const registry = new Registry()
const large = randomBytes(largeBytes)
const digest = createHash('sha256').update(large).digest('hex')
registry.archive('modules/large/large.zip', large)
registry.write(
  'large.yaml',
  moduleObjects({
    name: 'large',
    versions: [{ version: '1.0.0', fileName: 'large.zip', checksum: digest }],
  }),
)
const path = `/depot/modules/v1/download/fileSystem/modules/large/large.zip?fileChecksum=${digest}`
const server = await startServer(registry)
const explorer = await startExplorer({
  serverUrl: server.url,
  flags: ['--dist-path', writeBarePages(join(registry.dir, 'pages'))],
})

/** Seconds of processor time so far. */
async function cpuOf({ adminUrl }: Server | ExplorerProcess): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1])
}

async function megabytesPerSecond(url: string): Promise<number> {
  const start = performance.now()
  const { body, statusCode } = await request(url + path)
  let bytes = 0
  for await (const chunk of body) bytes += (chunk as Buffer).length
  if (statusCode !== 200 || bytes !== largeBytes) throw new Error(`${statusCode}, ${bytes} bytes`)
  return bytes / 1000 / (performance.now() - start)
}

const direct: number[] = []
const passed: number[] = []
await megabytesPerSecond(server.url)
await megabytesPerSecond(explorer.url)
let [serverCpu, explorerCpu] = [0, 0]
for (let round = 0; round < rounds; round++) {
  direct.push(await megabytesPerSecond(server.url))
  const before = [await cpuOf(server), await cpuOf(explorer)]
  passed.push(await megabytesPerSecond(explorer.url))
  serverCpu += (await cpuOf(server)) - (before[0] ?? 0)
  explorerCpu += (await cpuOf(explorer)) - (before[1] ?? 0)
}
const text = await (await fetch(`${explorer.adminUrl}/metrics`)).text()
const rss = Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1])
const [own, through] = [median(direct), median(passed)]
console.log(`archive of 100 MB, median of ${rounds}:
  the server itself     ${own.toFixed(0)} MB/s
  through the explorer  ${through.toFixed(0)} MB/s, ratio ${(through / own).toFixed(2)} (0.5 or more is wanted)
  processor time        server ${((serverCpu / rounds) * 1000).toFixed(0)} ms, explorer ${((explorerCpu / rounds) * 1000).toFixed(0)} ms each
  explorer's memory     ${(rss / 1e6).toFixed(0)} MB`)
await explorer.stop()
await server.stop()
registry.remove()
