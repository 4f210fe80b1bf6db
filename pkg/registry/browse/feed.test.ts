import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { parseAtomFeed } from 'feedsmith'
import { expect, it, vi } from 'vitest'
import { compileBinding } from '../access/access.ts'
import type { CallerView } from '../auth/auth.ts'
import { Catalog, type Listed } from '../catalog/catalog.ts'
import { createBrowse } from './browse.ts'
import { callersSeeing } from './callers.fixture.ts'
import { parsed } from './random-registry.fixture.ts'

const s3 = { s3: { bucket: 'archives', region: 'eu-west-1' } }
const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}T12:00:00Z`
const label = { 'depot.internal/public': 'true' }

class Registry {
  readonly catalog = new Catalog()
  #revision = 0
  #view: CallerView = 'all'
  readonly app = createBrowse({
    catalog: this.catalog,
    auth: callersSeeing(() => this.#view),
  }).routes

  put(kind: string, name: string, rest: object, namespace = 'platform'): void {
    this.#revision += 1
    const metadata = { name, namespace: kind === 'Namespace' ? '' : namespace, uid: name, ...rest }
    const raw = { kind, metadata, ...rest }
    this.catalog.apply({ type: 'upsert', resource: parsed(raw, this.#revision) })
  }

  module(name: string, lifecycle: object[] = [], namespace = 'platform', labels = {}): void {
    const spec = { moduleConfig: { name, provider: 'aws', storageConfig: s3 }, lifecycle }
    this.put('Module', name, { spec, labels }, namespace)
  }

  version(name: string, version: string, storedAt: string, status = {}, namespace = 'platform') {
    const fileName = `${name}-${version}.zip`
    const artifact = { fileName, sha256: 'a'.repeat(64), storedAt }
    this.put(
      'Version',
      `${name}-${version}`,
      {
        spec: {
          type: 'Module',
          version,
          fileName,
          moduleConfigRef: { name, provider: 'aws', storageConfig: s3 },
        },
        status: { checksum: 'a'.repeat(64), synced: true, artifact, ...status },
      },
      namespace,
    )
  }

  async text(query = '', view: CallerView = 'all'): Promise<string> {
    this.#view = view
    return (await this.app.request(`/depot/ui/v1/feed.atom${query}`)).text()
  }

  /** Returns titles and times. */
  async news(query = '', view: CallerView = 'all') {
    const { entries = [] } = parseAtomFeed(checked(await this.text(query, view)))
    return entries.map(({ title, updated }) => [title?.value, updated])
  }
}

const listOf = <T>(one: T | readonly T[] | undefined): readonly T[] =>
  one === undefined ? [] : Array.isArray(one) ? one : [one as T]

interface Parts {
  readonly id: string
  readonly title: string
  readonly updated: string
  readonly content: { readonly '@type': string }
  readonly author: { readonly name: string }
  readonly link: Record<string, string> | readonly Record<string, string>[]
  readonly entry?: Parts | readonly Parts[]
}

/** Checks the rules of RFC 4287 for feeds and entries. */
function checked(xml: string): string {
  expect(XMLValidator.validate(xml)).toBe(true)
  const options = { ignoreAttributes: false, attributeNamePrefix: '@', parseTagValue: false }
  const { feed } = new XMLParser(options).parse(xml) as { feed: Parts & { '@xmlns': string } }
  expect(feed['@xmlns']).toBe('http://www.w3.org/2005/Atom')
  expect(feed.author.name).not.toBe('')
  const entries = listOf(feed.entry)
  for (const part of [feed, ...entries]) {
    expect(part.id).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    expect(new Date(part.updated).toISOString()).toBe(part.updated)
    expect(part.title).not.toBe('')
    const alternates = listOf(part.link).filter((link) => link['@rel'] === 'alternate')
    expect(alternates).toHaveLength(1)
    expect(
      URL.canParse(alternates[0]?.['@href'] ?? '', 'https://depot.example/depot/ui/v1/feed.atom'),
    ).toBe(true)
  }
  for (const { content } of entries) expect(content['@type']).toBe('text')
  expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
  return xml
}

const critical = {
  vulnerabilityID: 'CVE-2026-1',
  pkgName: 'net',
  installedVersion: '0.2',
  severity: 'CRITICAL',
  title: 't',
}

it('lists new versions, withdrawals and CRITICAL findings, newest first', async () => {
  const registry = new Registry()
  registry.module('vpc', [
    { versions: '1.0.0', state: 'Deprecated', message: 'has a bug', replacedBy: '1.1.0' },
    { versions: '1.2.0', state: 'Quarantined' },
  ])
  registry.version('vpc', '1.0.0', day(1), { lifecycle: { state: 'Deprecated', since: day(6) } })
  registry.version('vpc', '1.1.0', day(2), {
    sourceScan: {
      scannedAt: day(5),
      findings: [critical, { ...critical, severity: 'HIGH', vulnerabilityID: 'CVE-2' }],
    },
  })
  registry.version('vpc', '1.2.0', day(3), { lifecycle: { state: 'Quarantined', since: day(4) } })
  expect(await registry.news()).toEqual([
    ['Deprecated: platform/vpc/aws 1.0.0', '2026-01-06T12:00:00.000Z'],
    ['Critical findings: platform/vpc/aws 1.1.0', '2026-01-05T12:00:00.000Z'],
    ['Quarantined: platform/vpc/aws 1.2.0', '2026-01-04T12:00:00.000Z'],
    ['New version: platform/vpc/aws 1.1.0', '2026-01-02T12:00:00.000Z'],
    ['New version: platform/vpc/aws 1.0.0', '2026-01-01T12:00:00.000Z'],
  ])
  const { updated, entries = [] } = parseAtomFeed(await registry.text())
  expect(updated).toBe('2026-01-06T12:00:00.000Z')
  expect(entries.slice(0, 2).map(({ content }) => content?.value)).toEqual([
    'has a bug; use 1.1.0 instead',
    'CVE-2026-1 in net 0.2',
  ])
  const [link] = entries[0]?.links ?? []
  expect(new URL(link?.href ?? '', 'https://depot.example/depot/ui/v1/feed.atom').href).toBe(
    'https://depot.example/platform/module/vpc?version=1.0.0',
  )
})

it('keeps ids and times when a scan repeats its findings, even after a restart', async () => {
  const fill = (scannedAt: string) => {
    const registry = new Registry()
    registry.module('vpc')
    const counts = { critical: 1, high: 0, medium: 0, low: 0, unknown: 0 }
    const scan = { sha256: 'a'.repeat(64), scanner: 's', counts, criticalSince: day(2) }
    registry.version('vpc', '1.0.0', day(1), {
      scan,
      sourceScan: { scannedAt, findings: [critical] },
    })
    return registry.text()
  }
  expect(await fill(day(9))).toBe(await fill(day(3)))
})

it('contains only what the caller may see and the query selects', async () => {
  const registry = new Registry()
  registry.put('Namespace', 'open', { labels: label })
  registry.module('shown', [], 'open', label)
  registry.version('shown', '1.0.0', day(1), {}, 'open')
  for (const name of ['vpc', 'dns']) {
    registry.module(name)
    registry.version(name, '1.0.0', day(2))
  }
  const metadata = { name: 'b' }
  const spec = { expression: 'true', moduleResources: ['vpc'] }
  const binding = parsed({ kind: 'GroupBinding', metadata, spec } as never, 1) as never
  const titles = async (query?: string, view?: CallerView) =>
    (await registry.news(query, view)).map(([title]) => title?.replace('New version: ', ''))
  const [shown, vpc, dns] = [
    'open/shown/aws 1.0.0',
    'platform/vpc/aws 1.0.0',
    'platform/dns/aws 1.0.0',
  ]
  expect(await titles()).toEqual([dns, vpc, shown])
  expect(await titles('', 'public')).toEqual([shown])
  expect(await titles('', compileBinding(binding))).toEqual([vpc, shown])
  expect(await titles('?namespace=platform')).toEqual([dns, vpc])
  expect(await titles('?namespace=platform', 'public')).toEqual([])
  expect(await titles('?namespace=platform&kind=module&name=vpc')).toEqual([vpc])
  expect(await titles('?kind=provider')).toEqual([])
})

it('is sent with an ETag, and sent again only after a change', async () => {
  const registry = new Registry()
  registry.module('vpc')
  registry.version('vpc', '1.0.0', day(1))
  const ask = (headers: Record<string, string> = {}) =>
    registry.app.request('/depot/ui/v1/feed.atom', { headers })
  const first = await ask()
  expect(first.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8')
  const known = { 'If-None-Match': first.headers.get('etag') ?? '' }
  expect((await ask(known)).status).toBe(304)
  registry.version('vpc', '1.1.0', day(2))
  expect((await ask(known)).status).toBe(200)
})

it('stays valid XML whatever messages, names and queries contain', async () => {
  const registry = new Registry()
  const message = '</content>]]><script>alert(1)</script>&amp;\u0000\u001b\ud800\ufffe\u202e"'
  registry.module('vpc', [{ versions: '1.0.0', state: 'Yanked', message }])
  registry.version('vpc', '1.0.0', day(1))
  const [yanked] = parseAtomFeed(checked(await registry.text())).entries ?? []
  expect(yanked?.content?.value).toBe('</content>]]><script>alert(1)</script>&amp; \ufffd "')
  const query = `?name=${encodeURIComponent('"><entry>&\u0001')}`
  const { entries, links } = parseAtomFeed(checked(await registry.text(query)))
  expect(entries).toBeUndefined()
  expect(new URL(links?.[0]?.href ?? '', 'https://depot.example/').search).toBe(
    `?${new URLSearchParams({ name: '"><entry>&\u0001' }).toString()}`,
  )
})

it.each([
  ['different moments', 60_000],
  ['one moment', 0],
])('lists the last 100 of 3,000 news of %s, and reads few modules', async (_, stepMs) => {
  const registry = new Registry()
  for (let index = 0; index < 3_000; index += 1) {
    registry.module(`m${index}`)
    registry.version(`m${index}`, '1.0.0', new Date(index * stepMs + 1e12).toISOString())
  }
  const { model } = registry.catalog
  await model.whenSettled
  const parents = Object.getPrototypeOf(model.entries[0]?.parent) as Listed['parent']
  using memo = vi.spyOn(parents, 'memo')
  const news = await registry.news()
  expect(news).toHaveLength(100)
  const looks = memo.mock.calls.filter(([key]) => key === 'news').length
  expect(looks).toBeGreaterThanOrEqual(100)
  expect(looks).toBeLessThan(300)
  if (stepMs === 0) return
  expect([news[0]?.[0], news[99]?.[0]]).toEqual([
    'New version: platform/m2999/aws 1.0.0',
    'New version: platform/m2900/aws 1.0.0',
  ])
})
