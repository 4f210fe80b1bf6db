import { setImmediate as turn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { JsonReader, type Kind, kindNames, parseResource } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { loadSigner } from '../../pkg/archives/signing/signing.ts'
import { createArchives } from '../../pkg/archives/storage/storage.ts'
import { giveMemoryBack } from '../../pkg/base/fast/fast.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import { startServer } from '../../pkg/registry/server/server.ts'
import { cpuTimeMs } from '../testbed/cpu-time.ts'
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
  /** CPU time spent on reading, checking and taking over, without making the objects up. */
  readonly loadSeconds: number
  /** Spent on no more than finding the lines of the same text and reading them as JSON. */
  readonly leastSeconds: number
  readonly jsonMegabytes: number
  readonly distinctFindings: number
}

interface Line {
  readonly kind: Kind
  readonly text: string
}

const linesPerBlock = 10

/** Both ways read one block after the other, so that they meet the same machine; what counts is the time of the thread. */
async function fill(
  catalog: Catalog,
): Promise<Pick<Loaded, 'loadSeconds' | 'leastSeconds' | 'jsonMegabytes'>> {
  const replacements = new Map(kindNames.map((kind) => [kind, catalog.beginReplace(kind)]))
  const json = new JsonReader()
  const load = (lines: readonly Line[]): void => {
    for (const { kind, text } of lines) {
      const parsed = parseResource(kind, json.parse(text))
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
      replacements.get(kind)?.add(parsed.resource)
    }
  }
  const spent = { loadSeconds: 0, leastSeconds: 0, jsonMegabytes: 0 }
  for (const lines of blocks()) {
    spent.loadSeconds += secondsOf(() => load(lines))
    const text = lines.map((line) => line.text).join('\n')
    spent.leastSeconds += secondsOf(() => read(text))
    spent.jsonMegabytes += text.length / 1e6
    await turn()
  }
  for (const replacement of replacements.values()) await replacement.commit()
  return spent
}

function* blocks(): Generator<readonly Line[]> {
  let lines: Line[] = []
  const objects = benchObjects({
    versions: Number(values.versions),
    findingsPerVersion: Number(values.findings),
    distinctFindings: Number(values.distinct),
  })
  for (const object of objects) {
    lines.push({ kind: object.kind, text: JSON.stringify(object) })
    if (lines.length < linesPerBlock) continue
    yield lines
    lines = []
  }
  yield lines
}

function read(text: string): void {
  for (const line of text.split('\n')) if (line !== '') JSON.parse(line)
}

function secondsOf(work: () => void): number {
  const beforeMs = cpuTimeMs()
  work()
  return (cpuTimeMs() - beforeMs) / 1000
}

const log = createLogger('info')
const metrics = createMetrics({ version: 'bench' })
const catalog = new Catalog()
const archives = createArchives({ filesystemMountPath: '/', log, metrics })
const privateKeyPath = values.key
const signer = await loadSigner({ privateKeyPath, passphrase: undefined, log, metrics })
const filled = await fill(catalog)
giveMemoryBack()
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
