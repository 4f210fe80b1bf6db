import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sample, SampleDepot } from '../../hack/testbed/explorer/manifests.ts'
import { chromiumPath, problemsInEveryLook } from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

/* Versions that policies hold back: their page, their count in the sidebar, and the mark that links there. */

const since = '2026-11-26T10:00:00Z'
const samples: readonly Sample[] = [
  {
    namespace: 'network',
    name: 'vpc',
    kind: 'module',
    provider: 'aws',
    versions: ['1.0.0'],
    heldBack: [
      {
        version: 'v1.1.0',
        since,
        publishedAt: '2026-11-26T09:45:12Z',
        until: '2999-01-01T00:00:00Z',
      },
      { version: 'v1.2.0', since, message: 'denied: owner changed, under review' },
    ],
  },
  {
    namespace: 'platform',
    name: 'cmdb',
    kind: 'provider',
    versions: ['2.0.0'],
    heldBack: [
      { version: '2.1.0', since, why: 'Unsigned', message: 'it has no signature', signedBy: '' },
      { version: '2.2.0', since, why: 'Breaking', message: 'it breaks callers of 2.0.0' },
    ],
  },
]

const depot: SampleDepot = {
  namespace: 'platform',
  name: 'mirror',
  storage: 'fileSystem',
  minutes: 60,
  modules: [],
  providers: [],
}

let showcase: Showcase
beforeAll(async () => {
  if (chromiumPath !== undefined) showcase = await startShowcase(samples, [depot])
})
afterAll(() => showcase?.stop())

describe.skipIf(chromiumPath === undefined)('held versions', () => {
  it('are counted in the sidebar, and explained on their own page', async () => {
    const { page, problems, close } = await showcase.open('/')
    const sidebar = page.getByRole('navigation', { name: 'Depot' })
    const link = sidebar.getByRole('link', { name: /^Held back/ })
    await expect.poll(() => link.innerText()).toMatch(/Held back\s*4/)
    await link.click()
    await page.waitForURL('**/held-back')
    await page.getByRole('status').getByText('4 versions').waitFor()
    const [young, denied, unsigned, breaking] = await page.locator('main tbody tr').allInnerTexts()
    expect(young).toMatch(
      /v1\.1\.0[\s\S]*Held back until 2999-01-01[\s\S]*Published[\s\S]*said by [\w.]+\.[\s\S]*in \d+ years/,
    )
    expect(denied).toMatch(/v1\.2\.0[\s\S]*owner changed, under review[\s\S]*when the policy/)
    expect(unsigned).toMatch(/2\.1\.0[\s\S]*no signature[\s\S]*when it is signed/)
    expect(breaking).toMatch(/2\.2\.0[\s\S]*breaks callers of 2\.0\.0[\s\S]*when it is accepted/)
    expect(await problemsInEveryLook(page)).toEqual([])
    // The lines that except a version, for people who may change the Depot.
    const lines = page.locator('main tbody tr').first().locator('details')
    await lines.getByText('For those who may change the Depot').click()
    const command = lines.getByRole('button', { name: /Copy command that excepts v1\.1\.0/ })
    await command.waitFor()
    expect(await lines.innerText()).toMatch(
      /exceptions:\s+- address: "git\.example\.com\/network\/vpc"[\s\S]*kubectl patch depot mirror --namespace platform --type json/,
    )
    expect(await problemsInEveryLook(page)).toEqual([])
    await page.getByLabel('Why').selectOption('Denied')
    await page.getByRole('status').getByText('1 version', { exact: true }).waitFor()
    expect(page.url()).toContain('why=Denied')
    await page.getByLabel('Why').selectOption('No signature')
    await page.locator('main tbody').getByText('2.1.0', { exact: true }).waitFor()
    expect(await page.locator('main tbody tr').count()).toBe(1)
    await page.getByLabel('Search address or version').fill('nothing')
    await page.getByText('Nothing matches these filters.').waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('mark their module in the registry', async () => {
    const { page, problems, close } = await showcase.open('/')
    await page.locator('main').getByRole('link', { name: 'Held back' }).click()
    await page.waitForURL('**/held-back?q=network%2Fvpc')
    await page.getByRole('status').getByText('2 versions').waitFor()
    expect(problems).toEqual([])
    await close()
  })
})
