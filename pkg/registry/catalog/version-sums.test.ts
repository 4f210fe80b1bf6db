import { describe, expect, it } from 'vitest'
import {
  type Kind,
  type ParentKind,
  parseResource,
  type Resource,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { CountedDownload } from '../downloads/downloads.ts'
import { Catalog } from './catalog.ts'
import { VersionSums } from './version-sums.ts'

const severities = ['CRITICAL', 'HIGH', 'LOW', 'odd']
const parent = { kind: 'Provider', namespace: 'team', name: 'wide' } as const
const storageConfig = { s3: { bucket: 'archives', region: 'eu-west-1' } }

function parse(kind: Kind, name: string, rest: object, resourceVersion: number): Resource {
  const metadata = { name, namespace: 'team', resourceVersion: String(resourceVersion) }
  const parsed = parseResource(kind, { metadata, ...rest })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.resource
}

/** A seeded generator: the same numbers in every run. */
function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const provider = (revision: number, hasStorage = true) =>
  parse(
    'Provider',
    'wide',
    { spec: { providerConfig: { name: 'wide', ...(hasStorage && { storageConfig }) } } },
    revision,
  )

/** Creates one of up to 1,200 archives, some with the same version and platform. */
function version(place: number, revision: number, random: (below: number) => number): Resource {
  const findings = Array.from({ length: random(4) }, () => ({
    vulnerabilityID: `CVE-${random(9)}`,
    pkgName: 'package',
    installedVersion: '1.0.0',
    severity: severities[random(severities.length)],
    title: 'title',
  }))
  const number = Math.floor(place / 6)
  const spec = {
    type: 'Provider',
    version: number % 50 === 0 ? 'none' : `1.${number}.0${number % 7 === 0 ? '-rc.1' : ''}`,
    operatingSystem: random(9) === 0 ? 'darwin' : 'linux',
    architecture: `arch${place % 5}`,
    fileName: `wide_${place}.zip`,
    providerConfigRef: { name: 'wide' },
  }
  const status = {
    ...(random(5) > 0 && { checksum: 'ab'.repeat(32) }),
    synced: random(3) > 0,
    syncStatus: random(6) === 0 ? 'failed' : '',
    archiveSizeBytes: random(1000),
    ...(random(4) > 0 && {
      sourceScan: { scannedAt: `2026-01-0${1 + random(9)}T00:00:00Z`, findings },
    }),
  }
  return parse('Version', `wide-${place}`, { spec, status }, revision)
}

const specOf = (resource: Resource | undefined): string =>
  JSON.stringify(resource !== undefined && 'spec' in resource && resource.spec)

/** The summary of the only provider, once all changes are applied. */
function summaryOf({ model }: Catalog) {
  const request = { sortBy: 'name', descending: false, offset: 0, limit: 1 } as const
  let page = model.page(model.views.all, {}, request)
  while (!model.settled) page = model.page(model.views.all, {}, request)
  const { resource: _, ...summary } = page.entries[0]?.summary ?? {}
  const { totals, mostDownloaded } = model.stats(model.views.all)
  const versions = mostDownloaded.map(({ version: of, count, lastAt }) => ({ of, count, lastAt }))
  return { ...summary, stats: totals, versions, all: model.states }
}

describe('the sums of a parent with many Versions', () => {
  it.each([1, 2, 3])('equal the sums of a fresh catalog after changes (%i)', (seed) => {
    const random = chance(seed)
    const catalog = new Catalog({ firstBy: 'arrival' })
    const now = new Map<string, Resource>()
    const downloaded: CountedDownload[] = []
    let revision = 0
    const put = (resource: Resource) => {
      const key = `${resource.kind} ${resource.metadata.name}`
      // A row that becomes another archive comes after the rows that already are that archive.
      if (specOf(now.get(key)) !== specOf(resource)) now.delete(key)
      now.set(key, resource)
      catalog.apply({ type: 'upsert', resource })
    }
    put(provider(++revision))
    for (let place = 0; place < 1_200; place += 1) put(version(place, ++revision, random))
    for (let round = 0; round < 40; round += 1) {
      for (let changes = random(12); changes >= 0; changes -= 1) {
        const place = random(1_200)
        const name = `wide-${place}`
        if (random(4) > 0) put(version(place, ++revision, random))
        else if (now.delete(`Version ${name}`)) {
          catalog.apply({ type: 'delete', kind: 'Version', namespace: 'team', name })
        }
      }
      if (random(4) === 0) put(provider(++revision, random(2) === 0))
      const download = { version: `1.${random(200)}.0`, os: 'linux', arch: `arch${random(5)}` }
      downloaded.push({ ...parent, ...download, count: 1 + random(9), lastAt: round })
      catalog.setDownloads(downloaded.slice(-1))
      // Only one slice, so that a round finds unfinished work of the previous round.
      const read = random(2) === 0 ? () => catalog.model.revision : () => summaryOf(catalog)
      read()
    }
    const fresh = new Catalog({ firstBy: 'arrival' })
    for (const resource of now.values()) fresh.apply({ type: 'upsert', resource })
    fresh.setDownloads(downloaded)
    expect(summaryOf(catalog)).toEqual(summaryOf(fresh))
  })

  /** Cost of each part of the work, in Versions that were read. */
  function workOn(catalog: Catalog, kind: ParentKind, maxRows: number): number[] {
    const found = catalog[kind === 'Module' ? 'modules' : 'providers'].get('team')?.get('wide')
    if (found === undefined) throw new Error('there is no such parent')
    const sums = new VersionSums(catalog.findings)
    const costs: number[] = []
    for (;;) {
      const { sum, cost } = sums.of(found, maxRows)
      costs.push(cost)
      if (sum !== undefined) return costs
    }
  }

  it.each([
    {
      versions: 'many versions',
      numberOf: (place: number) => `1.${place}.0`,
      most: 600,
      again: 1,
    },
    { versions: 'one version', numberOf: () => '1.0.0', most: 520, again: 40 },
  ])(
    'for $versions Versions consist of small parts of work, even after a change',
    ({ numberOf, most, again }) => {
      const catalog = new Catalog()
      const count = 20_000
      const one = (place: number, revision: number) => {
        const spec = {
          type: 'Module',
          version: numberOf(place),
          fileName: 'a.zip',
          moduleConfigRef: { name: 'wide' },
        }
        return parse('Version', `v${place}`, { spec }, revision)
      }
      const module = parse('Module', 'wide', { spec: { moduleConfig: { storageConfig } } }, 1)
      catalog.apply({ type: 'upsert', resource: module })
      for (let place = 0; place < count; place += 1) {
        catalog.apply({ type: 'upsert', resource: one(place, 2) })
      }
      const first = workOn(catalog, 'Module', 500)
      expect(first.length).toBeGreaterThanOrEqual(count / 500)
      expect(Math.max(...first)).toBeLessThanOrEqual(most)
      catalog.apply({ type: 'upsert', resource: one(7, 3) })
      const after = workOn(catalog, 'Module', 500)
      expect(Math.max(...after)).toBeLessThanOrEqual(most)
      expect(after.length).toBe(again)
    },
  )

  it('stay valid when the parent is removed and added again: no Version is read again', () => {
    const catalog = new Catalog()
    const key = { kind: 'Provider', namespace: 'team', name: 'wide' } as const
    catalog.apply({ type: 'upsert', resource: provider(1) })
    const random = chance(4)
    for (let place = 0; place < 3_000; place += 1) {
      catalog.apply({ type: 'upsert', resource: version(place, place, random) })
    }
    workOn(catalog, 'Provider', Number.POSITIVE_INFINITY)
    catalog.apply({ type: 'delete', ...key })
    expect(catalog.conflicts.ParentMissing).toBe(3_000)
    catalog.apply({ type: 'upsert', resource: provider(2) })
    expect(catalog.conflicts.ParentMissing).toBe(0)
    expect(workOn(catalog, 'Provider', 0)[0]).toBeLessThan(20)
  })
})
