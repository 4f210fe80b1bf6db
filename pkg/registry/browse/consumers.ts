import { parse, rcompare } from 'semver'
import * as z from 'zod'
import { ConsumerList } from '../../api/browse/browse.ts'
import { mildest } from '../../api/lifecycle/lifecycle.ts'
import { type Catalog, compareText, type Parent, scanCounts } from '../catalog/catalog.ts'
import type { ConsumerUse } from '../downloads/downloads.ts'
import { unreadable } from '../protocol/protocol.ts'
import { endpoint } from './endpoint.ts'
import { oneOf, optional, pageIn, paging, resourcePath, word } from './parameters.ts'
import { findResource } from './resource-record.ts'

const dayMs = 86_400_000

const query = z.object({
  q: optional(word, 'payments', 'Part of a consumer, in any case.'),
  version: optional(word, '1.1.0', 'Only users of this version.'),
  state: optional(
    oneOf(['behind', 'deprecated', 'critical']),
    'deprecated',
    'behind: users of a version that is not the newest. deprecated: of one that is deprecated, withdrawn or gone. critical: of one with CRITICAL findings.',
  ),
  ...paging,
})

type Consumer = z.infer<typeof ConsumerList>['items'][number]
type UsedVersion = Consumer['versions'][number]

export const consumers = endpoint({
  route: '/resources/{namespace}/{kind}/{name}/consumers',
  operationId: 'listConsumers',
  summary: 'Who uses a module or provider',
  description:
    'The programs and groups that downloaded it in the last 90 days, those on the oldest versions first. For callers who may write its Versions.',
  path: resourcePath,
  query,
  response: ConsumerList,
  example: {
    items: [
      {
        consumer: 'group:team-payments',
        versions: [
          { version: '1.0.0', lastUsed: '2026-01-31', days: 12, state: 'Deprecated', critical: 1 },
        ],
        lastUsed: '2026-01-31',
        behind: 6,
      },
    ],
    totalCount: 1,
    page: 1,
    pageSize: 20,
    consumers: 37,
    onLatest: 8,
    troubled: 3,
  } satisfies ConsumerList,
  isForWriters: true,
  waitsFor: 'counts',
  async answer({ catalog, view, path, query: given, consumers: usesOf }) {
    const { parent, summary } = findResource(catalog, view, path)
    const { kind, namespace, name } = summary
    const uses = await usesOf({ kind, namespace, name }).catch(unreadable)
    const all = consumersOf(uses, parent, catalog)
    const asked = { ...given, q: given.q?.toLowerCase() }
    const chosen = all.filter((one) => isAsked(one, asked))
    const body: ConsumerList = {
      ...pageIn(chosen, asked),
      consumers: all.length,
      onLatest: all.filter(({ behind }) => behind === 0).length,
      troubled: all.filter((one) => is.deprecated(one) || is.critical(one)).length,
    }
    return { body: JSON.stringify(body) }
  },
})

const is = {
  behind: ({ behind }: Consumer) => behind > 0,
  deprecated: ({ versions }: Consumer) => versions.some(({ state }) => state !== undefined),
  critical: ({ versions }: Consumer) => versions.some(({ critical }) => critical !== undefined),
} as const

const isAsked = (one: Consumer, { q, version, state }: z.output<typeof query>): boolean =>
  (q === undefined || one.consumer.toLowerCase().includes(q)) &&
  (state === undefined || is[state](one)) &&
  (version === undefined || one.versions.some((used) => used.version === version))

/** Consumers on the oldest versions first. */
function consumersOf(uses: readonly ConsumerUse[], parent: Parent, catalog: Catalog): Consumer[] {
  const listed = new Set(parent.versions.filter((row) => row.isListed).map((row) => row.version))
  const releases = [...listed].filter((version) => parse(version)?.prerelease.length === 0)
  const known = new Map<string, Pick<UsedVersion, 'state' | 'critical'>>()
  const stateOf = (version: string) => {
    const found = known.get(version) ?? versionState(version, parent, catalog)
    known.set(version, found)
    return found
  }
  const found = Map.groupBy(uses, ({ consumer }) => consumer)
  const items = Array.from(found, ([consumer, own]): Consumer => {
    const versions = own
      .toSorted((a, b) => newestFirst(a.version, b.version))
      .map(({ version, day, days }) => ({
        version,
        lastUsed: dateOf(day),
        days,
        ...stateOf(version),
      }))
    const oldest = versions.at(-1)?.version ?? ''
    const behind = releases.filter((version) => newestFirst(version, oldest) < 0).length
    return { consumer, versions, lastUsed: dateOf(Math.max(...own.map(({ day }) => day))), behind }
  })
  return items.toSorted((a, b) => b.behind - a.behind || compareText(a.consumer, b.consumer))
}

function versionState(version: string, parent: Parent, catalog: Catalog) {
  const rows = parent.rowsOf(version)
  const critical = scanCounts(catalog.findings, rows)?.critical ?? 0
  return {
    state: rows.length === 0 ? ('Gone' as const) : mildest(rows)?.state,
    critical: critical > 0 ? critical : undefined,
  }
}

const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10)

/** Versions that are not semver, which cannot be downloaded any more, come last. */
function newestFirst(left: string, right: string): number {
  const [a, b] = [parse(left), parse(right)]
  return a !== null && b !== null ? rcompare(a, b) : Number(a === null) - Number(b === null)
}
