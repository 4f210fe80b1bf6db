import { createHash } from 'node:crypto'
import { emptyRoot, type FolderDocs, type ModuleDocs } from '../../pkg/api/docs/docs.ts'
import { type Kind, parseResource } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { compareModules } from '../../pkg/archives/compare/compare.ts'
import { PageCollector, packedDocs } from '../../pkg/archives/docs/docs.ts'
import type { Archives } from '../../pkg/archives/storage/storage.ts'
import { notFound } from '../../pkg/base/errors/errors.ts'
import { createBrowse } from '../../pkg/registry/browse/browse.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import { pageOfVersion } from '../../pkg/registry/documentation/documentation.ts'
import { Search } from '../../pkg/registry/search/search.ts'
import { atMost, goalTable } from './goals.ts'
import { median } from './rounds.ts'

/*
 * Measures the search among 10,000 modules with documentation, the documentation of a module of 200 files, a comparison, and
 * a page of a large provider, read and warm. All times are CPU time of all threads, in milliseconds.
 */

const modules = 10_000
const catalog = new Catalog()
const search = new Search(catalog)
const { model } = catalog
const documented = new Map<string, ModuleDocs>()

async function cpuMs(step: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await step()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function medianMs(step: (round: number) => unknown, rounds = 200): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) times.push(await cpuMs(() => step(round)))
  return median(times)
}

function usedMb(): number {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1e6
}

const subjects =
  'vpc subnet bucket cluster node queue topic database table gateway route role policy key secret zone record certificate instance volume snapshot image function layer event rule alarm dashboard stream cache index domain user group repository pipeline project endpoint listener target'.split(
    ' ',
  )
const aspects =
  'name size tags enabled description subnets retention encryption version engine type count class family mode region account prefix suffix owner port protocol timeout memory schedule lifecycle logging metrics backup replica threshold period capacity scaling cidr arn ids labels annotations settings'.split(
    ' ',
  )

/** Forty terms or some more, of which modules share many. */
function docsOf(seed: number): ModuleDocs {
  const at = (of: readonly string[], step: number) => of[Math.abs(seed * 31 + step * 7) % of.length]
  const nameAt = (step: number) => `${at(subjects, step)}_${at(aspects, step >> 1)}_${step % 17}`
  const inputs = Array.from({ length: 20 }, (_, step) => input(nameAt(seed + step)))
  const outputs = Array.from({ length: 8 }, (_, step) => ({
    name: `${nameAt(seed + step)}_id`,
    sensitive: false,
    ephemeral: false,
  }))
  const resources = Array.from({ length: 6 }, (_, step) => ({
    mode: 'managed' as const,
    type: `aws_${at(subjects, step)}_${at(aspects, step + seed)}`,
    name: 'this',
  }))
  const description = `Module ${seed} makes a ${at(subjects, 1)} with ${at(aspects, 2)} for team-${seed % 50}.`
  return {
    schema: 1,
    root: { ...emptyRoot, description, inputs, outputs, resources },
    submodules: [],
    examples: [],
  }
}

const input = (name: string): FolderDocs['inputs'][number] => ({
  name,
  type: 'map(object({ az = string, size = optional(number, 3) }))',
  required: false,
  default: {},
  sensitive: false,
  nullable: true,
  ephemeral: false,
  validations: [],
})

function put(kind: Kind, name: string, raw: object): void {
  const metadata = { name, namespace: 'bench' }
  const parsed = parseResource(kind, { metadata, ...raw })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  catalog.apply({ type: 'upsert', resource: parsed.resource })
}

const storageConfig = { fileSystem: { directoryPath: 'archives' } }

function putVersion(type: 'Module' | 'Provider', name: string, docs: Buffer | ModuleDocs): void {
  const sha256 = createHash('sha256')
    .update(Buffer.isBuffer(docs) ? docs : JSON.stringify(docs))
    .digest('hex')
  if (!Buffer.isBuffer(docs)) documented.set(sha256, docs)
  const ref =
    type === 'Module'
      ? { moduleConfigRef: { name } }
      : { providerConfigRef: { name }, operatingSystem: 'linux', architecture: 'amd64' }
  put('Version', `${name}-1`, {
    spec: { type, version: '1.0.0', fileName: `${name}.zip`, ...ref },
    status: { checksum: sha256, synced: true, artifact: { docs: { sha256, sizeBytes: 1 } } },
  })
}

/** Brings the index up to date, as the feed does. @returns the CPU time of each turn */
async function follow(): Promise<number[]> {
  const turns: number[] = []
  do turns.push(await cpuMs(() => search.advance()))
  while (!search.advance())
  for (let wanted = search.take(); wanted; wanted = search.take()) {
    const docs = documented.get(Buffer.from(wanted.digest, 'latin1').toString('hex'))
    const asked = wanted
    if (docs !== undefined) turns.push(await cpuMs(() => search.describe(asked, docs)))
  }
  return turns
}

for (let index = 0; index < modules; index += 1) {
  const name = `${subjects[index % subjects.length]}-${index}`
  put('Module', name, { spec: { moduleConfig: { name, provider: 'aws', storageConfig } } })
  putVersion('Module', name, docsOf(index))
}
while (!model.settled) void model.revision
const beforeMb = usedMb()
await follow()
const indexMb = usedMb() - beforeMb
const questions = [
  'vpc_name',
  'bucket',
  'aws_queue',
  'encryption key',
  'subnets',
  'gatewya',
  'team-7',
]
/** A page of hits with what matched in each. */
const ask = (question: string): void => {
  const hits = search.find(model.views.all, {}, question)
  for (const entry of hits.slice(0, 20)) hits.matchesOf(entry)
}
const asked: number[] = []
for (const question of questions) asked.push(await medianMs(() => ask(question)))
const changes: number[] = []
const turns: number[] = []
for (let round = 0; round < 200; round += 1) {
  const index = (round * 7919) % modules
  const name = `${subjects[index % subjects.length]}-${index}`
  putVersion('Module', name, docsOf(index + modules + round))
  const each = await follow()
  changes.push(each.reduce((sum, ms) => sum + ms, 0))
  turns.push(...each)
}

const content = (index: number): string =>
  [
    `variable "in_${index}" {`,
    '  type    = map(object({ az = string }))',
    '  default = {}',
    '}',
    `resource "aws_vpc" "it_${index}" {`,
    '  tags = { Name = "x" }',
    '}',
    `output "out_${index}" {`,
    '  value = 1',
    '}',
    '',
  ].join('\n')
const files = Array.from({ length: 200 }, (_, index) => {
  const text = content(index)
  return { path: `file-${index}.tf`, text, sizeBytes: text.length }
})
async function* read({ text }: { readonly text: string }) {
  yield Buffer.from(text)
}
/** The first one starts the parser. */
const parsingMs = await cpuMs(() => packedDocs(files, read))

const wide = (type: string): ModuleDocs => ({
  ...docsOf(1),
  root: {
    ...emptyRoot,
    inputs: Array.from({ length: 300 }, (_, index) => ({
      ...input(`input_${index}`),
      type: index % 3 === 0 ? type : 'string',
    })),
  },
})
const [from, to] = [
  wide('map(object({ az = string, size = optional(number, 3) }))'),
  wide('map(object({ az = string, size = number }))'),
]
const compareMs = await medianMs(() => compareModules(from, to, { from: '1.0.0', to: '2.0.0' }))

const collector = new PageCollector()
for (let index = 0; index < 1500; index += 1) {
  const page = `---\nsubcategory: Group ${index % 40}\n---\n# tool_thing_${index}\n\n${'Text of a page. '.repeat(300)}\n`
  collector.take(`docs/resources/thing_${index}.md`)?.(Buffer.from(page))
}
const pages = await collector.packed()
if (pages === undefined) throw new Error('the provider has no pages')
put('Provider', 'tool', { spec: { providerConfig: { name: 'tool', storageConfig } } })
putVersion('Provider', 'tool', pages.bytes)
const provider = catalog.parentAt('Provider', 'bench', 'tool')
if (provider === undefined) throw new Error('the provider is not there')
const bytes = new Uint8Array(pages.bytes)
const storage: Pick<Archives, 'inMemory' | 'open'> = {
  inMemory: () => bytes,
  open: () => Promise.reject(notFound('all is in memory')),
}
const page = { category: 'resources', slug: 'thing_700' } as const
const pageMs = await medianMs(() => pageOfVersion(provider, '1.0.0', page, storage), 50)
const { routes } = createBrowse({ catalog, archives: storage })
const pageUrl = `/depot/ui/v1/resources/bench/provider/tool/pages/${page.category}/${page.slug}`
const askPage = async () => {
  const response = await routes.request(pageUrl)
  if (response.status !== 200 || !(await response.text()).includes('Text of a page.')) {
    throw new Error(`the page was answered with ${response.status}`)
  }
}
// An answer is kept from its second request on.
for (let round = 0; round < 3; round += 1) await askPage()
const warmPageMs = await medianMs(askPage)

const sorted = turns.toSorted((a, b) => a - b)
console.log(
  goalTable([
    atMost(
      'search among 10,000 modules, ms',
      0.4,
      median(asked),
      `${questions.join(', ')}: ${asked.map((ms) => ms.toFixed(2)).join(', ')}`,
    ),
    atMost('index of 10,000 modules, MB', 60, indexMb),
    atMost(
      'change that enters the index, ms',
      2,
      median(changes),
      `longest turn ${sorted.at(-1)?.toFixed(2)} ms`,
    ),
    atMost('documentation of a module of 200 files, first one, ms', 1000, parsingMs),
    atMost('comparison of two versions with 300 inputs, ms', 5, compareMs),
    atMost('page of a provider with 1,500 that is not cached, ms', 20, pageMs),
    atMost('the same page, warm, ms', 2, warmPageMs),
  ]),
)
process.exit()
