import { expect, it } from 'vitest'
import { drawFirstView } from './first-view.tsx'

const item = {
  namespace: 'network',
  kind: 'module',
  name: 'vpc',
  provider: 'aws',
  latestVersion: '2.4.0',
  synced: true,
  hasUnsyncedVersions: true,
  public: true,
  totalDownloads: 1200,
  scanCounts: { critical: 1, high: 0, medium: 0, low: 0, unknown: 0 },
}
const answer = (items: unknown[]) => ({ items, totalCount: items.length, page: 1, pageSize: 20 })
const draw = (query: string, body: unknown): string | undefined =>
  drawFirstView(new URLSearchParams(query), body)

it.each(['', 'view=cards'])('renders the same as the app, with %s', (query) => {
  const html = draw(query, answer([item]))
  for (const words of ['<b>vpc</b>', '2.4.0', 'aws', '1,200', 'out of sync', 'Public'])
    expect(html).toContain(words)
  expect(html).toContain('href="/network/module/vpc"')
})

it.each(['name', 'namespace', 'provider', 'latestVersion'])(
  'renders a hostile %s as text',
  (field) => {
    const attack = '"><img src=x onerror=alert(1)><script>alert(1)</script><!--'
    for (const query of ['', 'view=cards', `q=${encodeURIComponent(attack)}`]) {
      const html = draw(query, answer([{ ...item, [field]: attack }]))
      expect(html).toContain('&lt;')
      expect(html).not.toMatch(/<(?:img|script|!)/)
    }
  },
)

it('renders nothing if the answer has no list', () => {
  for (const body of [
    null,
    'text',
    [],
    {},
    answer([]),
    answer([1]),
    { ...answer([item]), page: 'x' },
  ])
    expect(draw('', body)).toBeUndefined()
})

it('renders a page for any odd URL', () => {
  for (const query of [
    'page=-1',
    'view=cards&view=table',
    'sort_by=%00',
    `namespace=${'a'.repeat(300)}`,
  ])
    expect(draw(query, answer([item]))).toContain('<b>vpc</b>')
})
