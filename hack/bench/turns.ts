import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startS3 } from '../testbed/object-stores/object-stores.ts'
import { Registry } from '../testbed/registry/registry.ts'
import { type Server, startServer } from '../testbed/server/server.ts'

const apiVersion = 'depot.internal/v1alpha1'
const downloads = 8
const archiveBytes = 50_000_000

/** Turns of the event loop, in milliseconds of CPU time. */
export interface Turns {
  /** Half of the busy time is in shorter turns than this: the turn that a random request meets. */
  readonly medianMs: number
  readonly longestMs: number
}

/** Measures the turns of a server that answers first downloads, eight at once, of files and of an object store. */
export async function measureTurns(rounds: number): Promise<Record<'disk' | 's3', Turns>> {
  const registry = new Registry()
  const s3 = await startS3()
  const turnsFile = join(registry.dir, 'turns.json')
  Object.assign(registry.environment, s3.env, {
    DEPOT_BENCH_TURNS: turnsFile,
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'turn-probe.ts')}`,
  })
  await s3.createBucket('archives')
  const paths: Record<'disk' | 's3', string[]> = { disk: [], s3: [] }
  const objects: object[] = []
  const files: string[] = []
  for (let index = 0; index < downloads; index += 1) {
    const name = `archive-${index}`
    const bytes = randomBytes(archiveBytes)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    registry.archive(`modules/${name}/${name}.zip`, bytes)
    files.push(join(registry.archives, `modules/${name}/${name}.zip`))
    await s3.put('archives', `${name}/${name}.zip`, bytes)
    const file = { fileSystem: { directoryPath: 'modules' } }
    const remote = { s3: { bucket: 'archives', region: 'eu-west-1' } }
    objects.push(
      module(name),
      version(name, '1.0.0', file, sha256),
      version(name, '2.0.0', remote, sha256),
    )
    const rest = `${name}/${name}.zip?fileChecksum=${sha256}&version=bench%2F${name}`
    paths.disk.push(`/depot/modules/v1/download/fileSystem/modules/${rest}-1.0.0`)
    paths.s3.push(`/depot/modules/v1/download/s3/archives/eu-west-1/${rest}-2.0.0`)
  }
  registry.write('objects.yaml', objects)
  let server: Server | undefined
  try {
    const started = await startServer(registry)
    server = started
    const measure = async (wanted: readonly string[]): Promise<Turns> => {
      const seen: number[] = []
      for (let round = 0; round <= rounds; round += 1) {
        // A file that was touched counts as a new one, which is read and hashed once more.
        for (const path of files) await utimes(path, round, round)
        process.kill(started.pid, 'SIGUSR2')
        await Promise.all(wanted.map((path) => download(started.url + path)))
        const turns = await takeTurns(started.pid, turnsFile)
        // The first round is slower: nothing is compiled yet.
        if (round > 0) for (const turn of turns) seen.push(turn)
      }
      return summaryOf(seen)
    }
    return { disk: await measure(paths.disk), s3: await measure(paths.s3) }
  } finally {
    await server?.stop()
    await s3.stop()
    registry.remove()
  }
}

async function download(url: string): Promise<void> {
  const asked = get(url)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  if (response.statusCode !== 200) throw new Error(`GET ${url}: ${response.statusCode}`)
}

async function takeTurns(pid: number, file: string): Promise<number[]> {
  process.kill(pid, 'SIGUSR2')
  for (;;) {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    if (text.endsWith(']')) {
      rmSync(file)
      return JSON.parse(text) as number[]
    }
    await sleep(20)
  }
}

function summaryOf(turnsMs: readonly number[]): Turns {
  const sorted = turnsMs.toSorted((a, b) => a - b)
  const half = sorted.reduce((sum, one) => sum + one, 0) / 2
  let sum = 0
  const median = sorted.find((one) => {
    sum += one
    return sum >= half
  })
  return { medianMs: median ?? 0, longestMs: sorted.at(-1) ?? 0 }
}

const module = (name: string) => ({
  apiVersion,
  kind: 'Module',
  metadata: { name, namespace: 'bench' },
  spec: { moduleConfig: { name } },
})

const version = (name: string, number: string, storageConfig: object, checksum: string) => ({
  apiVersion,
  kind: 'Version',
  metadata: { name: `${name}-${number}`, namespace: 'bench' },
  spec: {
    type: 'Module',
    version: number,
    fileName: `${name}.zip`,
    moduleConfigRef: { name, storageConfig },
  },
  status: { checksum, synced: true },
})

if (import.meta.main) {
  for (const [backend, turns] of Object.entries(await measureTurns(3))) {
    const { medianMs, longestMs } = turns
    console.log(
      `turns of the event loop, ${downloads} first downloads from ${backend}: median ${medianMs.toFixed(2)} ms, longest ${longestMs.toFixed(2)} ms`,
    )
  }
}
