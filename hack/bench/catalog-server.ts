import { setImmediate as turn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { JsonReader, kindNames, parseResource } from '../../pkg/apis/v1alpha1/v1alpha1.ts'
import { Catalog } from '../../pkg/catalog/catalog.ts'
import { limitHeap } from '../../pkg/memory/memory.ts'
import { startServer } from '../../pkg/server/server.ts'
import { loadSigner } from '../../pkg/signing/signing.ts'
import { createArchives } from '../../pkg/storage/storage.ts'
import { createLogger, createMetrics } from '../../pkg/telemetry/telemetry.ts'
import { benchObjects } from './registry.ts'

/*
 * The server with a catalog of any size, filled as from a cluster: each object arrives as a line of JSON and is parsed,
 * checked and taken over by itself. 200,000 Versions as manifests would be more than a gigabyte of files.
 */

const { values } = parseArgs({
  options: {
    versions: { type: 'string', default: '200000' },
    findings: { type: 'string', default: '20' },
    distinct: { type: 'string', default: '4000' },
    key: { type: 'string', default: '' },
  },
})

export interface Loaded {
  readonly url: string
  readonly adminUrl: string
  /** Spent on reading, checking and taking over, without making the objects up. */
  readonly loadSeconds: number
  /** Spent on no more than finding the lines of the same text and reading them as JSON. */
  readonly leastSeconds: number
  readonly jsonMegabytes: number
  readonly distinctFindings: number
}

const linesPerSlice = 100

async function fill(
  catalog: Catalog,
): Promise<Pick<Loaded, 'loadSeconds' | 'leastSeconds' | 'jsonMegabytes'>> {
  const replacements = new Map(kindNames.map((kind) => [kind, catalog.beginReplace(kind)]))
  const json = new JsonReader()
  let milliseconds = 0
  let leastMilliseconds = 0
  let block: string[] = []
  let characters = 0
  let lines = 0
  const objects = benchObjects({
    versions: Number(values.versions),
    findingsPerVersion: Number(values.findings),
    distinctFindings: Number(values.distinct),
  })
  for (const object of objects) {
    const line = JSON.stringify(object)
    const start = performance.now()
    const parsed = parseResource(object.kind, json.parse(line))
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
    replacements.get(object.kind)?.add(parsed.resource)
    milliseconds += performance.now() - start
    block.push(line)
    characters += line.length
    lines += 1
    if (lines % linesPerSlice !== 0) continue
    leastMilliseconds += timeToRead(block.join('\n'))
    block = []
    await turn()
  }
  for (const replacement of replacements.values()) await replacement.commit()
  return {
    loadSeconds: milliseconds / 1000,
    leastSeconds: leastMilliseconds / 1000,
    jsonMegabytes: characters / 1e6,
  }
}

function timeToRead(text: string): number {
  const start = performance.now()
  for (const line of text.split('\n')) JSON.parse(line)
  return performance.now() - start
}

limitHeap()
const log = createLogger('info')
const metrics = createMetrics({ version: 'bench' })
const catalog = new Catalog()
const archives = createArchives({ filesystemMountPath: '/', log, metrics })
const privateKeyPath = values.key
const signer = await loadSigner({ privateKeyPath, passphrase: undefined, log, metrics })
const filled = await fill(catalog)
const { url, adminUrl } = await startServer({
  listen: { host: '127.0.0.1', port: 0 },
  adminListen: { host: '127.0.0.1', port: 0 },
  catalog,
  archives,
  signer,
  log,
  metrics,
  waitingFor: () => [],
})
const loaded: Loaded = { url, adminUrl, ...filled, distinctFindings: catalog.findings.size }
process.send?.(loaded)
process.on('disconnect', () => process.exit())
