import { parseArgs } from 'node:util'
import { parseResource } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import { cpuTimeMs } from '../testbed/cpu-time.ts'
import { type BenchObject, benchObjects } from './registry.ts'

/*
 * Measures the cost of one change if one parent has many Versions: from the object that was read to a page that shows it. All
 * times are CPU time of the thread, in milliseconds.
 */

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '200' } } })
const platforms = 13

const catalog = new Catalog()
const request = { sortBy: 'name', descending: false, offset: 0, limit: 20 } as const

function apply(object: Made): void {
  const parsed = parseResource(object.kind, object)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  catalog.apply({ type: 'upsert', resource: parsed.resource })
}

type Made = BenchObject & { readonly spec: object; readonly status?: object }

/** A provider with many versions, of the findings that the made-up registry has. */
function* provider(name: string, versions: number): Generator<Made> {
  const made = benchObjects({ versions: 1050, findingsPerVersion: 20, distinctFindings: 4000 })
  const samples = [...made].filter(({ metadata }) => metadata.name.startsWith('tool-')) as Made[]
  yield resource(name)
  for (let index = 0; index < versions * platforms; index += 1) {
    const sample = samples[index % samples.length] as Made
    const version = `1.${Math.floor(index / platforms)}.0`
    const metadata = { ...sample.metadata, name: `${name}-${index}`, ownerReferences: [] }
    const changed = {
      version,
      architecture: `arch${index % platforms}`,
      providerConfigRef: { name },
    }
    yield { ...sample, metadata, spec: { ...sample.spec, ...changed } }
  }
}

function resource(name: string): Made {
  const storageConfig = { s3: { bucket: 'archives', region: 'eu-west-1' } }
  return {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Provider',
    metadata: { name, namespace: 'bench' },
    spec: { providerConfig: { name, storageConfig } },
  }
}

function measure(what: string, steps: readonly (() => void)[], between = () => {}): void {
  const times = steps.map((step) => {
    const time = millisecondsOf(step)
    between()
    return time
  })
  show(what, times)
}

function millisecondsOf(step: () => void): number {
  const beforeMs = cpuTimeMs()
  step()
  return cpuTimeMs() - beforeMs
}

function show(what: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(2)
  console.log(`${what.padEnd(46)} median ${at(0.5)}  p99 ${at(0.99)}  most ${at(1)}`)
}

const look = () => catalog.model.page(catalog.model.views.all, {}, request)
const settle = (): void => {
  while (!catalog.model.settled) look()
}
const rounds = Number(values.rounds)
const objects = [...provider('wide', 600)]
for (const object of objects) apply(object)
settle()

const versions = objects.slice(1)
measure(
  'one change among 600 versions x 13 platforms',
  Array.from({ length: rounds }, (_, round) => () => {
    const changed = versions[(round * 7919) % versions.length] as Made
    const metadata = { ...changed.metadata, resourceVersion: String(1_000_000 + round) }
    apply({ ...changed, metadata, status: { ...changed.status, synced: round % 2 === 0 } })
    look()
  }),
)

const moving = 692
for (const object of provider('moving', moving)) apply(object)
catalog.apply({ type: 'delete', kind: 'Provider', namespace: 'bench', name: 'moving' })
settle()
const slices: number[] = []
measure(
  `${moving * platforms} Versions find their parent`,
  Array.from({ length: Math.ceil(rounds / 10) }, () => () => apply(resource('moving'))),
  () => {
    while (!catalog.model.settled) slices.push(millisecondsOf(look))
    catalog.apply({ type: 'delete', kind: 'Provider', namespace: 'bench', name: 'moving' })
    settle()
  },
)
show('each slice of the sums that follow', slices)
