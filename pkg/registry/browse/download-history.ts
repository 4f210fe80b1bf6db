import * as z from 'zod'
import { DownloadHistory } from '../../api/browse/browse.ts'
import type { HourlyCount } from '../downloads/downloads.ts'
import { unreadable } from '../protocol/protocol.ts'
import { endpoint } from './endpoint.ts'
import { oneOf, optional, resourcePath } from './parameters.ts'
import { findResource } from './resource-record.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const historyMs = 90 * dayMs
const defaultSpanMs = 30 * dayMs
/** The epoch was a Thursday, and weeks begin on Mondays. */
const mondayMs = 4 * dayMs
const stepMs = { '1h': hourMs, '6h': 6 * hourMs, '1d': dayMs, '7d': 7 * dayMs } as const
/** Number of most downloaded versions with their own line. */
const mostVersions = 20

const time = z.iso.datetime({
  offset: true,
  error: 'must be a time as in RFC 3339, such as 2026-01-31T00:00:00Z',
})

const query = z.object({
  from: optional(
    time,
    '2026-01-01T00:00:00Z',
    'RFC 3339. Default: 30 days before `to`; history reaches back 90 days.',
  ),
  to: optional(time, '2026-01-31T00:00:00Z', 'RFC 3339. Default: now.'),
  step: oneOf(['1h', '6h', '1d', '7d'])
    .default('1d')
    .meta({ description: 'Length of a step; days and weeks are those of UTC.', examples: ['1d'] }),
})

type Query = z.output<typeof query>

export const downloadHistory = endpoint({
  route: '/resources/{namespace}/{kind}/{name}/downloads',
  operationId: 'getDownloadHistory',
  summary: 'Downloads over time',
  description:
    'How often a module or provider, and each of its most downloaded versions, was downloaded in each step of a period.',
  path: resourcePath,
  query,
  response: DownloadHistory,
  example: {
    from: '2026-01-29T00:00:00.000Z',
    to: '2026-02-01T00:00:00.000Z',
    stepSeconds: 86_400,
    total: 7,
    counts: [4, 0, 3],
    versions: [{ version: '2.0.0', total: 3, counts: [0, 0, 3] }],
  },
  waitsFor: 'counts',
  async answer({ catalog, view, path, query: asked, history, clock }) {
    const { parent, summary } = findResource(catalog, view, path)
    const steps = stepsOf(asked, clock())
    const { kind, namespace, name } = summary
    const downloads = catalog.downloads.of(kind, namespace, name)
    const totals = new Map<string, number>()
    for (const row of parent.versions) {
      const count = downloads?.of(row)?.count ?? 0
      if (count > 0) totals.set(row.version, (totals.get(row.version) ?? 0) + count)
    }
    const versions = [...totals]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, mostVersions)
      .map(([version]) => version)
    const hours = await history({ kind, namespace, name }, versions).catch(unreadable)
    const lines = Map.groupBy(hours, ({ version }) => version)
    const body: DownloadHistory = {
      from: new Date(steps.first).toISOString(),
      to: new Date(steps.first + steps.count * steps.ms).toISOString(),
      stepSeconds: steps.ms / 1000,
      ...sumsOf(lines.get(undefined) ?? [], steps),
      versions: versions
        .map((version) => ({ version, ...sumsOf(lines.get(version) ?? [], steps) }))
        .filter(({ total }) => total > 0)
        .toSorted((a, b) => b.total - a.total),
    }
    return { body: JSON.stringify(body) }
  },
})

interface Steps {
  /** Start of the first one. */
  readonly first: number
  readonly ms: number
  readonly count: number
}

/** Whole steps that cover the requested time within the history; none if that time ends before the history begins. */
function stepsOf({ from, to, step }: Query, nowMs: number): Steps {
  const ms = stepMs[step]
  const end = Math.min(to === undefined ? nowMs : Date.parse(to), nowMs)
  const start = from === undefined ? end - defaultSpanMs : Date.parse(from)
  const offset = step === '7d' ? mondayMs : 0
  const floor = (at: number) => Math.floor((at - offset) / ms) * ms + offset
  const first = floor(Math.max(Math.min(start, nowMs), nowMs - historyMs))
  return { first, ms, count: start < end ? Math.max(0, Math.ceil((end - first) / ms)) : 0 }
}

function sumsOf(hours: readonly HourlyCount[], { first, ms, count }: Steps) {
  const counts = Array.from({ length: count }, () => 0)
  let total = 0
  for (const hour of hours) {
    const index = Math.floor((hour.startsAt - first) / ms)
    if (index < 0 || index >= count) continue
    counts[index] = (counts[index] ?? 0) + hour.count
    total += hour.count
  }
  return { total, counts }
}
