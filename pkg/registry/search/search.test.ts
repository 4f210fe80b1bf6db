import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { emptyRoot, type FolderDocs, type ModuleDocs } from '../../api/docs/docs.ts'
import { type Kind, parseResource } from '../../api/v1alpha1/v1alpha1.ts'
import { Catalog, type View } from '../catalog/catalog.ts'
import { Search, type SearchFilter } from './search.ts'

/** A catalog, its search, and the documentation in storage. */
class Searched {
  readonly catalog: Catalog
  readonly #docs: Map<string, ModuleDocs>
  search: Search

  constructor(catalog = new Catalog(), docs = new Map<string, ModuleDocs>()) {
    this.catalog = catalog
    this.#docs = docs
    this.search = new Search(catalog)
  }

  /** The same with an index that is built at once. */
  again(): Searched {
    return new Searched(this.catalog, this.#docs)
  }

  put(kind: Kind, name: string, raw: object, metadata: object = {}): void {
    const parsed = parseResource(kind, {
      metadata: { name, namespace: 'team', ...metadata },
      ...raw,
    })
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
    this.catalog.apply({ type: 'upsert', resource: parsed.resource })
  }

  module(name: string, docs?: ModuleDocs, labels: object = {}, provider = 'aws'): void {
    this.put('Module', name, { spec: { moduleConfig: { provider } } }, { labels })
    const text = JSON.stringify(docs)
    const sha256 = createHash('sha256')
      .update(text ?? '')
      .digest('hex')
    if (docs !== undefined) this.#docs.set(sha256, docs)
    const artifact = { fileName: 'x.zip', ...(docs && { docs: { sha256, sizeBytes: 1 } }) }
    this.put('Version', `${name}-1`, {
      spec: { type: 'Module', version: '1.0.0', moduleConfigRef: { name } },
      status: { synced: true, checksum: sha256, artifact },
    })
  }

  download(name: string, count: number, namespace = 'team'): void {
    const version = '1.0.0'
    this.catalog.setDownloads([{ kind: 'Module', namespace, name, version, count, lastAt: 1 }])
  }

  remove(name: string): void {
    this.catalog.apply({ type: 'delete', kind: 'Module', namespace: 'team', name })
  }

  /** Reads all documentation that the index lacks. */
  feed(): void {
    while (!this.search.advance());
    for (let wanted = this.search.take(); wanted; wanted = this.search.take()) {
      const docs = this.#docs.get(Buffer.from(wanted.digest, 'latin1').toString('hex'))
      if (docs !== undefined) this.search.describe(wanted, docs)
    }
  }

  find(text: string, view: View = this.catalog.model.views.all, filter: SearchFilter = {}) {
    const { count, slice, matchesOf, isTruncated } = this.search.find(view, filter, text)
    const half = Math.ceil(count / 2)
    const entries = [...slice(0, half), ...slice(half, Infinity)]
    const names = entries.map(({ summary }) => summary.name)
    return { count, names, matches: entries.map(matchesOf), isTruncated }
  }
}

const named = (names: readonly string[]) =>
  names.map((name) => ({
    name,
    required: true,
    sensitive: false,
    nullable: true,
    ephemeral: false,
    validations: [],
  }))

function docsOf(root: Partial<FolderDocs>, submodules: readonly string[] = []): ModuleDocs {
  return {
    schema: 1,
    root: { ...emptyRoot, ...root },
    submodules: submodules.map((name) => ({ ...emptyRoot, path: `modules/${name}` })),
    examples: [],
  }
}

const network = docsOf(
  {
    description: 'Subnets in\nseveral zones.',
    readme: '# Network\n```\n# comment\n```\n## Peering with others ##\n',
    inputs: named(['cidr_block', 'Zones']),
    outputs: [{ name: 'vpc_id', sensitive: false, ephemeral: false }],
    resources: [{ mode: 'managed', type: 'aws_route_table', name: 'this' }],
    providers: [{ name: 'random', aliases: [] }],
  },
  ['endpoints'],
)

it('leaves out typing errors of words that have exact matches, if the query asks for it', () => {
  const searched = new Searched()
  for (const name of ['m19998', 'm19988', 'm19998-old']) searched.module(name)
  searched.feed()
  const { all } = searched.catalog.model.views
  const found = (text: string, exactFirst: boolean) =>
    searched.find(text, all, { exactFirst }).names.toSorted()
  expect(found('m19998', false)).toEqual(['m19988', 'm19998', 'm19998-old'])
  expect(found('m19998', true)).toEqual(['m19998', 'm19998-old'])
  expect(found('m29998', true)).toEqual(['m19998', 'm19998-old'])
  expect(found('m19988 aws', true)).toEqual(['m19988'])
})

it.each([
  ['network', 'name', 'network'],
  ['NETW', 'name', 'network'],
  ['team', 'namespace', 'team'],
  ['aws', 'system', 'aws'],
  ['aws_route', 'resource', 'aws_route_table'],
  ['table', 'resource', 'aws_route_table'],
  ['random', 'provider', 'random'],
  ['cidr', 'input', 'cidr_block'],
  ['zones', 'input', 'Zones'],
  ['vpc_id', 'output', 'vpc_id'],
  ['endpoints', 'submodule', 'endpoints'],
  ['several', 'description', 'Subnets in several zones.'],
  ['peering', 'heading', 'Peering with others'],
  ['zoens', 'input', 'Zones'],
  ['zonnes', 'input', 'Zones'],
  ['zone', 'input', 'Zones'],
  ['zanes', 'input', 'Zones'],
  ['depot.test/team/network/aws', 'name', 'network'],
])('%s is found in the %s', (text, field, found) => {
  const searched = new Searched()
  searched.module('network', network)
  searched.feed()
  const { names, matches } = searched.find(text)
  expect(names).toEqual(['network'])
  expect(matches[0]).toContainEqual({ field, text: found })
})

it('finds a long name in full, and ranks it first', () => {
  const name = `collector-${'with-tail-sampling-'.repeat(4)}end`
  const searched = new Searched()
  for (const each of [`${name}-2`, name]) {
    searched.module(each)
    searched.download(`${name}-2`, 9)
  }
  searched.feed()
  expect(searched.find(name)).toMatchObject({
    names: [name, `${name}-2`],
    matches: [[{ field: 'name', text: name }], [{ field: 'name', text: `${name}-2` }]],
  })
})

it.each(['comment', 'work', 'cdir', 'network nothing', '//', 'zzones_'])(
  '%s is found nowhere',
  (text) => {
    const searched = new Searched()
    searched.module('network', network)
    searched.feed()
    expect(searched.find(text).names).toEqual([])
  },
)

it('ranks names, then resource types, inputs, descriptions and headings, then typing errors', () => {
  const searched = new Searched()
  searched.module('a', docsOf({ readme: '# A table' }))
  searched.module('b', docsOf({ description: 'A table.' }))
  searched.module('c', docsOf({ inputs: named(['table']) }))
  searched.module('d', network)
  searched.module('e-table')
  searched.module('tables')
  searched.module('table')
  searched.module('tabel')
  searched.feed()
  expect(searched.find('table').names).toEqual('table tables e-table d c b a tabel'.split(' '))
})

it('orders entries of one rank by downloads, then by name, then by namespace', () => {
  const searched = new Searched()
  const spec = { moduleConfig: { provider: 'aws' } }
  for (const [name, namespace] of [
    ['table-b', 'a'],
    ['table-a', 'b'],
    ['table-a', 'a'],
    ['table-c', 'c'],
  ] as const) {
    searched.put('Module', name, { spec }, { namespace })
  }
  searched.download('table-c', 1, 'c')
  searched.feed()
  const { slice } = searched.search.find(searched.catalog.model.views.all, {}, 'table')
  const found = slice(0, 9).map(({ summary: { namespace, name } }) => `${namespace}/${name}`)
  expect(found).toEqual(['c/table-c', 'a/table-a', 'b/table-a', 'a/table-b'])
})

it('keeps 64 terms of a field and 400 of a version', () => {
  const searched = new Searched()
  const words = (prefix: string) => Array.from({ length: 70 }, (_, index) => `${prefix}${index}`)
  searched.module(
    'large',
    docsOf(
      {
        readme: `# ${words('h').join(' ')}`,
        description: words('d').join(' '),
        inputs: named(words('i')),
        outputs: words('o').map((name) => ({ name, sensitive: false, ephemeral: false })),
        providers: words('p').map((name) => ({ name, aliases: [] })),
        resources: words('r').map((type) => ({ mode: 'managed', type, name: 'this' })),
      },
      words('s'),
    ),
  )
  searched.feed()
  for (const last of ['i63', 'o63', 'p63', 'r63', 's63', 'd63', 'h15']) {
    expect(searched.find(last).names).toEqual(['large'])
  }
  for (const more of ['i64', 'o64', 'p64', 'r64', 's64', 'd64', 'h16']) {
    expect(searched.find(more).names).toEqual([])
  }
})

it.each(['a b c d e f g h i', 'ä'.repeat(129)])('refuses the query %s', (text) => {
  expect(() => new Searched().find(text)).toThrow(/q must have at most (8 words|256 bytes)/)
})

it('keeps the beginning of huge lines, and reads them fast', () => {
  const searched = new Searched()
  const huge = 'y'.repeat(200_000)
  const began = process.threadCpuUsage()
  const docs = docsOf({
    readme: `# Flow ${' '.repeat(200_000)} logs\n# ${'# '.repeat(100_000)}x\n`,
    resources: [{ mode: 'managed', type: `aws_${huge}`, name: 'a' }],
  })
  searched.module('vpc', docs)
  searched.feed()
  const { user, system } = process.threadCpuUsage(began)
  expect((user + system) / 1000).toBeLessThan(500)
  const [matches = []] = searched.find('aws flow').matches
  expect(matches.map(({ field }) => field)).toEqual(['system', 'resource', 'heading'])
  expect(JSON.stringify(matches).length).toBeLessThan(1_000)
})

it('says that results may be missing if words match too much', () => {
  const searched = new Searched()
  const inputs = named(Array.from({ length: 30 }, (_, index) => `in_a${index}`))
  const docs = docsOf({
    inputs,
    outputs: inputs.map(({ name }) => ({ name, sensitive: false, ephemeral: false })),
  })
  for (let index = 0; index < 1_800; index += 1) searched.module(`m${index}`, docs)
  searched.feed()
  expect(searched.find('m1').isTruncated).toBe(false)
  const { names, isTruncated } = searched.find('in a')
  expect({ isTruncated, some: names.length > 1_000 }).toEqual({ isTruncated: true, some: true })
})

it('drops documentation of another version, and ignores documentation that arrives too late', () => {
  const searched = new Searched()
  searched.module('network', network)
  searched.search.advance()
  const late = searched.search.take()
  searched.module('network', docsOf({ inputs: named(['other']) }))
  searched.search.advance()
  if (late !== undefined) searched.search.describe(late, network)
  expect(searched.find('cidr_block').names).toEqual([])
  searched.feed()
  expect(searched.find('other').names).toEqual(['network'])
})

it('never shows a removed entry through a new entry with its number', () => {
  const searched = new Searched()
  searched.put('Namespace', 'team', {}, { namespace: '', labels: publicLabel })
  const names = Array.from({ length: 300 }, (_, index) => `m${index}`)
  for (const name of names) searched.module(name)
  searched.module('secret', docsOf({ inputs: named(['hidden_input']) }))
  searched.feed()
  const { model } = searched.catalog
  const secret = model.find(model.views.all, 'Module', 'team', 'secret')?.number
  searched.remove('secret')
  searched.module('other', undefined, publicLabel)
  for (const name of names) searched.module(name, undefined, publicLabel)
  while (!model.settled) void model.revision
  expect(model.find(model.views.all, 'Module', 'team', 'other')?.number).toBe(secret)
  for (let turn = 0; turn < 30; turn += 1) {
    expect(searched.find('hidden_input', model.views.public).names).toEqual([])
  }
})

const publicLabel = { 'depot.internal/public': 'true' }
const word = fc.constantFrom('vpc', 'table', 'tabel', 'tables', 'aws_table', 'route', 'other-route')
const words = fc.array(word, { maxLength: 3 })
const docs = fc.option(
  fc
    .record({ inputs: words, types: words, submodules: words, description: words })
    .map(({ inputs, types, submodules, description }) =>
      docsOf(
        {
          inputs: named(inputs),
          resources: types.map((type) => ({ mode: 'managed' as const, type, name: 'this' })),
          description: description.join(' '),
        },
        submodules,
      ),
    ),
  { nil: undefined },
)
const step = fc.record({
  name: word.map((name) => name.replace('_', '-')),
  isGone: fc.constantFrom(false, false, true),
  isPublic: fc.boolean(),
  isFed: fc.boolean(),
  downloads: fc.nat({ max: 2 }),
  docs,
})
const query = fc
  .array(fc.constantFrom('vpc', 'table', 'tabl', 'rout', 'routte', 'aws', 'o', 'team', 'tablee'), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => parts.join(' '))

/** Whether one edit turns one text into the other: an added, removed or changed letter, or a swap of two. */
function isTypo(term: string, text: string): boolean {
  if (text.length < 5 || Math.abs(term.length - text.length) > 1) return false
  let at = 0
  while (at < term.length && term[at] === text[at]) at += 1
  const [a, b] = [term.slice(at), text.slice(at)]
  const swapped = `${a[1]}${a[0]}${a.slice(2)}`
  return [
    a.slice(1) === b.slice(1),
    a === b.slice(1),
    a.slice(1) === b,
    a.length > 1 && swapped === b,
  ].includes(true)
}

/** The names that a full scan finds, best first. */
function scanned(
  rows: ReadonlyMap<string, ModuleDocs | undefined>,
  downloadsOf: (name: string) => number,
  text: string,
): string[] {
  const rankOf = (name: string, found: ModuleDocs | undefined, wanted: string): number => {
    const root = found?.root ?? emptyRoot
    const fields: readonly (readonly [number, readonly string[]])[] = [
      [2, [name, 'team', 'aws']],
      [3, root.resources.map(({ type }) => type)],
      [4, root.inputs.map((input) => input.name)],
      [4, (found?.submodules ?? []).map(({ path }) => path.replace('modules/', ''))],
      [5, (root.description ?? '').split(' ')],
    ]
    const ranks = fields.flatMap(([rank, texts]) =>
      texts
        .flatMap((one) => [one, ...one.split(/[_-]/)])
        .flatMap((term) =>
          term.startsWith(wanted) ? [rank] : isTypo(term, wanted) ? [rank + 7] : [],
        ),
    )
    return name === wanted ? 0 : name.startsWith(wanted) ? 1 : Math.min(...ranks)
  }
  const wanted = [...new Set(text.split(' '))]
  return [...rows]
    .map(([name, found]) => ({
      name,
      rank: wanted.map((one) => rankOf(name, found, one)).reduce((sum, rank) => sum + rank, 0),
    }))
    .filter(({ rank }) => rank < Infinity)
    .toSorted(
      (a, b) =>
        a.rank - b.rank || downloadsOf(b.name) - downloadsOf(a.name) || (a.name < b.name ? -1 : 1),
    )
    .map(({ name }) => name)
}

it('finds after any changes the same as a scan over the visible rows and as a new index', () => {
  let found = 0
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 5, maxLength: 25 }),
      fc.array(query, { minLength: 5 }),
      (steps, queries) => {
        const searched = new Searched()
        searched.put('Namespace', 'team', {}, { namespace: '', labels: publicLabel })
        const rows = new Map<string, { docs: ModuleDocs | undefined; isPublic: boolean }>()
        const counts = new Map<string, number>()
        for (const { name, isGone, isPublic, isFed, downloads, docs: own } of steps) {
          searched.download(name, downloads)
          counts.set(name, downloads)
          if (isGone) {
            searched.remove(name)
            rows.delete(name)
          } else {
            searched.module(name, own, isPublic ? publicLabel : {})
            rows.set(name, { docs: own, isPublic })
          }
          if (isFed) searched.feed()
        }
        searched.feed()
        const anew = searched.again()
        anew.feed()
        for (const text of queries) {
          for (const view of ['all', 'public'] as const) {
            const seen = searched.catalog.model.views[view]
            const visible = [...rows].filter(([, row]) => view === 'all' || row.isPublic)
            const result = searched.find(text, seen)
            expect(result.names).toEqual(
              scanned(
                new Map(visible.map(([name, row]) => [name, row.docs])),
                (name) => counts.get(name) ?? 0,
                text,
              ),
            )
            expect(result).toEqual(anew.find(text, seen))
            expect(result.count).toBe(result.names.length)
            found += result.count
          }
        }
      },
    ),
    { seed: 26, numRuns: 150 },
  )
  expect(found).toBeGreaterThan(1_000)
})
