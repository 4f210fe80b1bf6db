import { expect, it } from 'vitest'
import { groupsOf } from './groups.ts'

const archive = { version: '1.0.0', synced: true, os: 'linux', arch: 'amd64', downloadCount: 2 }

it('keeps duplicates apart, and says what blocks archives', () => {
  const twice = { ...archive, reason: 'Duplicate' as const, message: 'duplicate of a: remove it' }
  const waiting = { ...archive, arch: 'arm64', synced: false, reason: 'NoDigest' as const }
  const page = { items: [archive, twice, waiting], totalCount: 1, page: 1, pageSize: 20 }
  expect(groupsOf(page)).toMatchObject([
    { archives: [archive, waiting], duplicates: [twice], reasons: ['Duplicate'], waiting: 1 },
  ])
})

it('marks a version that breaks callers, unless that is why it is not served', () => {
  const breaks = { from: '1.0.0', reasons: ['output id: The output was removed.'] }
  const served = { version: '1.1.0', synced: true, breaks }
  const refused = { version: '1.2.0', synced: false, breaks, reason: 'BreakingChange' as const }
  const page = { items: [refused, served], totalCount: 2, page: 1, pageSize: 20 }
  expect(groupsOf(page)).toMatchObject([
    { version: '1.2.0', breaks: undefined, reasons: ['BreakingChange'] },
    { version: '1.1.0', breaks, reasons: [] },
  ])
})

it('groups the archives of a version, and counts downloads of a platform once', () => {
  const items = [
    { ...archive, version: '2.0.0', synced: false, syncStatus: 'Failed to sync: refused' },
    { ...archive, version: '2.0.0', arch: 'arm64', synced: false, syncStatus: 'Waiting' },
    { ...archive, lastDownloadedAt: '2026-01-02T00:00:00Z' },
    { ...archive, downloadCount: 2 },
    { ...archive, arch: 'arm64', lastDownloadedAt: '2026-01-01T00:00:00Z' },
  ]
  const counts = { critical: 0, high: 1, medium: 0, low: 0, unknown: 0 }
  const page = {
    items,
    totalCount: 2,
    page: 1,
    pageSize: 20,
    versionScanCounts: { '1.0.0': counts },
  }
  expect(groupsOf(page)).toMatchObject([
    { version: '2.0.0', failed: 1, waiting: 1, downloads: 4, scanCounts: undefined },
    {
      version: '1.0.0',
      failed: 0,
      waiting: 0,
      downloads: 4,
      scanCounts: counts,
      lastDownloadedAt: '2026-01-02T00:00:00Z',
    },
  ])
})
