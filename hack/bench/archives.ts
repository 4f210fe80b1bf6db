import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startS3 } from '../testbed/object-stores/object-stores.ts'
import { Registry } from '../testbed/registry/registry.ts'
import { type Server, startServer } from '../testbed/server/server.ts'
import { type Anchor, startBarePipe, startNginx } from './archive-anchors.ts'
import { startLoad } from './processes.ts'
import { median } from './rounds.ts'
import { requireWrk, wrk } from './wrk.ts'

/*
 * Archives from Depot beside nginx with sendfile and beside a bare pipe of node:http, all on one machine with their load
 * (wrk): what counts are the ratios.
 */

await requireWrk()
const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const settings = values.quick ? { turns: 1, seconds: 1 } : { turns: 3, seconds: 3 }
const connectionCounts = [1, 8, 64]
const apiVersion = 'depot.internal/v1alpha1'
const sizes = { small: 50_000, large: 100_000_000, storm: 20_000_000 }
const freshFiles = 6
const running: { stop(): unknown }[] = []

const registry = await new Registry().sign()
const s3 = await startS3()
running.push(s3, { stop: () => registry.remove() })
Object.assign(registry.environment, s3.env)
await s3.createBucket('archives')

/** Path of the archive endpoint of a module. */
const paths = new Map<string, string>()

async function addModule(
  name: string,
  backend: 's3' | 'disk',
  sizeBytes: number,
): Promise<object[]> {
  const bytes = randomBytes(sizeBytes)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const fileName = `${name}.zip`
  if (backend === 's3') await s3.put('archives', `${name}/${fileName}`, bytes)
  else registry.archive(`modules/${name}/${fileName}`, bytes)
  const storageConfig =
    backend === 's3'
      ? { s3: { bucket: 'archives', region: 'eu-west-1' } }
      : { fileSystem: { directoryPath: 'modules' } }
  const place = backend === 's3' ? 's3/archives/eu-west-1' : 'fileSystem/modules'
  paths.set(name, `/depot/modules/v1/download/${place}/${name}/${fileName}?fileChecksum=${sha256}`)
  const config = { name, storageConfig }
  return [
    {
      apiVersion,
      kind: 'Module',
      metadata: { name, namespace: 'bench' },
      spec: { moduleConfig: config },
    },
    {
      apiVersion,
      kind: 'Version',
      metadata: { name: `${name}-1.0.0`, namespace: 'bench' },
      spec: { type: 'Module', version: '1.0.0', fileName, moduleConfigRef: config },
      status: { checksum: sha256, synced: true },
    },
  ]
}

const objects = [
  ...(await addModule('small', 'disk', sizes.small)),
  ...(await addModule('large', 'disk', sizes.large)),
  ...(await addModule('remote-small', 's3', sizes.small)),
  ...(await addModule('remote-large', 's3', sizes.large)),
  ...(await addModule('storm', 's3', sizes.storm)),
]
for (let index = 0; index < freshFiles; index++) {
  objects.push(...(await addModule(`fresh-${index}`, 'disk', sizes.large)))
}
registry.write('objects.yaml', objects)
// What is young is hashed every time, because a change might not show.
await sleep(4000)

async function start(...flags: readonly string[]): Promise<Server> {
  const server = await startServer(registry, ...flags)
  running.push(server)
  return server
}

const urlOf = (server: Server, name: string) => server.url + (paths.get(name) ?? '')
const rssMb = ({ pid }: Server): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000

/** Medians of servers that are measured in turns, so that what else the machine does falls on all of them. */
async function compare(what: string, urls: Readonly<Record<string, string>>): Promise<void> {
  for (const connections of connectionCounts) {
    const rates: Record<string, { requestsPerSecond: number; bytesPerSecond: number }[]> = {}
    for (const url of Object.values(urls)) await wrk({ url, connections, seconds: 1 })
    for (let round = 0; round < settings.turns; round++) {
      for (const [name, url] of Object.entries(urls)) {
        ;(rates[name] ??= []).push(await wrk({ url, connections, seconds: settings.seconds }))
      }
    }
    const row = Object.entries(rates).map(([name, own]) => {
      const requests = median(own.map(({ requestsPerSecond }) => requestsPerSecond))
      const gigabytes = median(own.map(({ bytesPerSecond }) => bytesPerSecond)) / 1e9
      return `${name} ${requests.toFixed(0)}/s ${gigabytes.toFixed(2)} GB/s`
    })
    console.log(`${what}, ${connections} connections: ${row.join(' | ')}`)
  }
}

async function firstReads(url: (index: number) => string): Promise<number> {
  const startMs = performance.now()
  for (let index = 0; index < freshFiles; index++) {
    const { body } = await fetch(url(index))
    if (body) for await (const chunk of body) void chunk
  }
  return (freshFiles * sizes.large) / 1e6 / (performance.now() - startMs)
}

async function memory(what: string, server: Server, url: string): Promise<void> {
  await wrk({ url, connections: 1, seconds: 1 })
  await sleep(1000)
  const before = rssMb(server)
  let highest = before
  const load = wrk({ url, connections: 64, seconds: settings.seconds * 3 }).then(() => true)
  while (!(await Promise.race([load, sleep(50).then(() => false)]))) {
    highest = Math.max(highest, rssMb(server))
  }
  console.log(
    `RSS, 64 downloads of 100 MB, ${what}: ${before.toFixed(0)} MB before, ${(highest - before).toFixed(0)} MB more at most`,
  )
}

async function listsBesideDownloads(server: Server, url: string): Promise<void> {
  const load = await startLoad()
  const path = '/depot/modules/v1/bench/small/aws/versions'
  const port = Number(new URL(server.url).port)
  const downloads = wrk({ url, connections: 8, seconds: 6 })
  await sleep(500)
  const { p50Ms, p99Ms } = await load.run({ port, path, connections: 1, durationMs: 4000 })
  console.log(
    `lists beside 8 downloads of 100 MB: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
  )
  await downloads
  load.stop()
}

async function storm(server: Server): Promise<void> {
  const url = urlOf(server, 'storm')
  const startMs = performance.now()
  await Promise.all(
    Array.from({ length: 500 }, async () => {
      const { body } = await fetch(url)
      if (body) for await (const chunk of body) void chunk
    }),
  )
  const text = await (await fetch(`${server.adminUrl}/metrics`)).text()
  const reads =
    /storage_request_duration_seconds_count\{backend="s3",operation="open",result="ok"\} (\d+)/.exec(
      text,
    )
  console.log(
    `500 requests for a cold archive of 20 MB: ${reads?.[1]} read of the backend, ${((performance.now() - startMs) / 1000).toFixed(1)} s`,
  )
}

try {
  const root = join(registry.archives, 'modules')
  const nginx: Anchor = await startNginx(root)
  running.push(nginx)
  const bare = await startBarePipe(root, false)
  const bareHashing = await startBarePipe(root, true)
  running.push(bare, bareHashing)
  const file = ({ port }: Anchor, name: string) => `http://127.0.0.1:${port}/${name}/${name}.zip`

  const caching = await start('--archive-cache-dir', join(registry.dir, 'cache'))
  await storm(caching)
  await memory('cached', caching, urlOf(caching, 'remote-large'))

  const plain = await start()
  const [own, hashed] = [
    await firstReads((index) => urlOf(plain, `fresh-${index}`)),
    await firstReads((index) => file(bareHashing, `fresh-${index}`)),
  ]
  console.log(
    `first read of 100 MB: Depot ${own.toFixed(2)} GB/s, bare pipe with hashing ${hashed.toFixed(2)} GB/s`,
  )
  await memory('from disk', plain, urlOf(plain, 'large'))
  await memory('from S3', plain, urlOf(plain, 'remote-large'))
  await listsBesideDownloads(plain, urlOf(plain, 'large'))
  await listsBesideDownloads(plain, urlOf(plain, 'remote-large'))
  for (const name of ['small', 'large'] as const) {
    await compare(name, {
      nginx: file(nginx, name),
      bare: file(bare, name),
      hashing: file(bareHashing, name),
      disk: urlOf(plain, name),
      cache: urlOf(caching, `remote-${name}`),
      s3: urlOf(plain, `remote-${name}`),
    })
  }
} finally {
  for (const part of running.toReversed()) await part.stop()
}
process.exit()
