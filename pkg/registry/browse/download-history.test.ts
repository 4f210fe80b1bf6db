import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DownloadHistory } from '../../api/browse/browse.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import { Catalog } from '../catalog/catalog.ts'
import type { HourlyCount } from '../downloads/downloads.ts'
import { type BrowseOptions, createBrowse } from './browse.ts'
import { callersSeeing } from './callers.fixture.ts'
import { parsed } from './random-registry.fixture.ts'

const hourMs = 3_600_000
const now = Date.UTC(2026, 0, 31, 15, 20)
const versions = ['1.0.0', '1.1.0', '2.0.0']

function catalogOf(labels: Record<string, string> = {}): Catalog {
  const catalog = new Catalog()
  const put = (kind: string, name: string, rest: object, namespace = 'platform') =>
    catalog.apply({
      type: 'upsert',
      resource: parsed({ kind, metadata: { name, namespace, labels }, ...rest }, 1),
    })
  put('Namespace', 'platform', {}, '')
  const moduleConfig = {
    name: 'vpc',
    storageConfig: { s3: { bucket: 'archives', region: 'eu-west-1' } },
  }
  put('Module', 'vpc', { spec: { moduleConfig } })
  for (const version of versions) {
    put('Version', `vpc-${version}`, {
      spec: { type: 'Module', version, fileName: 'a.zip', moduleConfigRef: moduleConfig },
      status: { checksum: 'a'.repeat(64), synced: true },
    })
    catalog.setDownloads([
      { kind: 'Module', namespace: 'platform', name: 'vpc', version, count: 1, lastAt: 1 },
    ])
  }
  return catalog
}

function serve(options: Partial<BrowseOptions>) {
  const app = createBrowse({
    catalog: catalogOf(),
    clock: () => now,
    ...options,
  }).routes
  app.onError((error) => {
    if (!(error instanceof RegistryError)) throw error
    return Response.json({ errors: [error.message] }, { status: error.status })
  })
  return (query = '', path = '/resources/platform/module/vpc/downloads') =>
    app.request(`/depot/ui/v1${path}${query}`)
}

const hour = fc.record({
  startsAt: fc
    .integer({ min: -91 * 24, max: 0 })
    .map((hours) => Math.floor(now / hourMs) * hourMs + hours * hourMs),
  version: fc.constantFrom(...versions),
  count: fc.integer({ min: 1, max: 50 }),
})
const question = fc.record({
  from: fc.option(fc.integer({ min: -120 * 24, max: 10 }), { nil: undefined }),
  to: fc.option(fc.integer({ min: -120 * 24, max: 10 }), { nil: undefined }),
  step: fc.constantFrom('1h', '6h', '1d', '7d'),
})

/** The start of the step that contains a time, by the calendar. */
function startOf(at: number, step: string): number {
  const date = new Date(at)
  date.setUTCMinutes(0, 0, 0)
  if (step === '6h') date.setUTCHours(date.getUTCHours() - (date.getUTCHours() % 6))
  if (step === '1d' || step === '7d') date.setUTCHours(0)
  if (step === '7d') date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  return date.getTime()
}

it('sums up like plain loops over the hours', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(hour, { maxLength: 60 }), question, async (hours, asked) => {
      const totals: HourlyCount[] = hours.map(({ startsAt, count }) => ({ startsAt, count }))
      const ask = serve({ history: () => Promise.resolve([...totals, ...hours]) })
      const time = (offset: number | undefined) =>
        offset === undefined ? undefined : new Date(now + offset * hourMs).toISOString()
      const query = new URLSearchParams({ step: asked.step })
      const [from, to] = [time(asked.from), time(asked.to)]
      if (from !== undefined) query.set('from', from)
      if (to !== undefined) query.set('to', to)
      const response = await ask(`?${query.toString()}`)
      const end = to === undefined ? now : Date.parse(to)
      const begin = from === undefined ? Math.min(end, now) - 30 * 24 * hourMs : Date.parse(from)
      expect(response.status).toBe(200)
      const body = DownloadHistory.parse(await response.json())
      const starts = body.counts.map(
        (_, index) => Date.parse(body.from) + index * body.stepSeconds * 1000,
      )
      for (const [index, start] of starts.entries()) {
        expect(startOf(start, asked.step)).toBe(start)
        const inside = hours.filter(({ startsAt }) => startOf(startsAt, asked.step) === start)
        expect(body.counts[index]).toBe(inside.reduce((sum, { count }) => sum + count, 0))
        for (const line of body.versions) {
          const own = inside.filter(({ version }) => version === line.version)
          expect(line.counts[index]).toBe(own.reduce((sum, { count }) => sum + count, 0))
        }
      }
      const oldest = startOf(Math.max(Math.min(begin, now), now - 90 * 24 * hourMs), asked.step)
      const last = Math.min(end, now)
      expect(starts[0]).toBe(begin < last && oldest < last ? oldest : undefined)
      expect(body.total).toBe(body.counts.reduce((sum, count) => sum + count, 0))
      expect(body.versions.reduce((sum, { total }) => sum + total, 0)).toBe(body.total)
    }),
    { seed: 6, numRuns: 400 },
  )
})

describe('the history of downloads', () => {
  it('covers the last 30 days by day by default', async () => {
    const ask = serve({})
    expect(await (await ask()).json()).toMatchObject({
      from: '2026-01-01T00:00:00.000Z',
      to: '2026-02-01T00:00:00.000Z',
      stepSeconds: 86_400,
      total: 0,
      versions: [],
    })
  })

  it.each([
    ['from=yesterday', 'from must be a time'],
    ['from=2026-01-31', 'from must be a time'],
    ['to=', 'to must be a time'],
    ['from=2026-02-30T00:00:00Z', 'from must be a time'],
    ['step=5m', 'step must be one of 1h, 6h, 1d, 7d'],
    ['step=1d&step=1h', 'step must be given once'],
  ])('refuses %s', async (query, message) => {
    const response = await serve({})(`?${query}`)
    expect(response.status).toBe(400)
    expect(JSON.stringify(await response.json())).toContain(message)
  })

  it('covers only resources that the caller may see', async () => {
    const hidden = catalogOf()
    const asked: string[] = []
    const history: NonNullable<BrowseOptions['history']> = ({ name }) => {
      asked.push(name)
      return Promise.resolve([])
    }
    const ask = serve({ catalog: hidden, auth: callersSeeing(() => 'public'), history })
    const [there, nowhere] = [await ask(), await ask('', '/resources/a/module/b/downloads')]
    expect([there.status, nowhere.status, asked]).toEqual([404, 404, []])
  })

  it('answers 503 while the counts are unavailable', async () => {
    const response = await serve({ history: () => Promise.reject(new Error('connect 10.0.0.1')) })()
    expect(response.status).toBe(503)
    expect(await response.text()).not.toContain('10.0.0.1')
  })

  it('answers 304 to clients that have it', async () => {
    const app = createBrowse({ catalog: catalogOf(), clock: () => now }).routes
    const path = '/depot/ui/v1/resources/platform/module/vpc/downloads'
    const etag = (await app.request(path)).headers.get('etag') ?? ''
    expect((await app.request(path, { headers: { 'If-None-Match': etag } })).status).toBe(304)
  })
})

describe('a badge', () => {
  const open = { 'depot.internal/public': 'true' }

  it('shows the latest version of a public resource', async () => {
    const catalog = catalogOf(open)
    const ask = serve({ catalog, auth: callersSeeing(() => 'public') })
    const response = await ask('', '/badges/platform/module/vpc.svg')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    const svg = await response.text()
    expect(svg).toMatch(/^<svg [^>]*aria-label="vpc 2\.0\.0"/)
    expect(svg).toContain('>v2.0.0</text>')
  })

  it.each([
    '/badges/platform/module/vpc.svg',
    '/badges/platform/module/nothing.svg',
    '/badges/platform/module/vpc',
    '/badges/platform/other/vpc.svg',
    '/badges/platform/provider/vpc.svg',
  ])('answers the same 404 for private and missing resources: %s', async (path) => {
    const catalog = catalogOf()
    const response = await serve({ catalog, auth: callersSeeing(() => 'public') })('', path)
    expect([response.status, await response.json()]).toEqual([
      404,
      { errors: ['no such badge: there is one for each public module and provider'] },
    ])
  })
})
