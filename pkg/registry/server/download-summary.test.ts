import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HourlyCount } from '../downloads/downloads.ts'
import { AccessFixture } from './access.fixture.ts'

const now = Date.parse('2026-06-30T12:00:00Z')
const clock = () => now
const daysAgo = (days: number) => now - days * 24 * 3_600_000
const network = { kind: 'Module', namespace: 'platform', name: 'network' } as const

let fixture: AccessFixture
beforeEach(() => {
  fixture = new AccessFixture()
  fixture.module('network')
  fixture.version('Module', 'network', '1.0.0')
})
afterEach(() => fixture[Symbol.dispose]())

describe.each(['/v1/modules', '/depot/modules/v1'])('%s/…/downloads/summary', (prefix) => {
  const ask = async (history: () => Promise<HourlyCount[]>, name = 'network') => {
    const app = fixture.app({ history, clock })
    const response = await app.request(`${prefix}/platform/${name}/aws/downloads/summary`)
    const body: unknown = await response.json()
    return { status: response.status, body }
  }
  const counted = () =>
    Promise.resolve([
      { startsAt: daysAgo(40), count: 4 },
      { startsAt: daysAgo(20), count: 2 },
      { startsAt: daysAgo(1), count: 1 },
    ])
  const summary = (attributes: object) => ({
    status: 200,
    body: {
      data: { type: 'module-downloads-summary', id: 'platform/network/aws', attributes },
    },
  })

  it('sums up the downloads of the last 7 and 30 days, of a year, and all', async () => {
    expect(await ask(counted)).toEqual(summary({ week: 1, month: 3, year: 7, total: 7 }))
    expect(await ask(() => Promise.resolve([]))).toEqual(
      summary({ week: 0, month: 0, year: 0, total: 0 }),
    )
  })

  it('says nothing of the year if some downloads are older than the history', async () => {
    fixture.catalog.setDownloads([{ ...network, version: '1.0.0', count: 9, lastAt: daysAgo(1) }])
    expect(await ask(counted)).toEqual(summary({ week: 1, month: 3, total: 9 }))
  })

  it('is 404 for an unknown module, and 503 while the counts are unavailable', async () => {
    expect(await ask(counted, 'none')).toMatchObject({ status: 404 })
    expect(await ask(() => Promise.reject(new Error('unavailable')))).toEqual({
      status: 503,
      body: { errors: ['the counts cannot be read now: try again in a moment'] },
    })
  })
})
