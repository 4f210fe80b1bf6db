import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { showcase as samples, showcaseDepots } from '../../hack/testbed/explorer/showcase.ts'
import { chromiumPath, problemsInEveryLook, settled, watch } from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

/* Pages of a registry in use. */

let showcase: Showcase
beforeAll(async () => {
  if (chromiumPath !== undefined) showcase = await startShowcase(samples, showcaseDepots, [], true)
})
afterAll(() => showcase?.stop())

describe.skipIf(chromiumPath === undefined)('downloads', () => {
  it('14. the top 10 have a version, a namespace, a count and the time of the last download', async () => {
    const { page, problems, close } = await showcase.open('/stats')
    await settled(page)
    const rows = page.locator('section[aria-labelledby=top] tbody tr')
    expect(await rows.count()).toBe(10)
    const counts: number[] = []
    for (const row of await rows.all()) {
      const words = await row.innerText()
      expect(words).toMatch(/[a-z]+\/\s*[a-z-]+/)
      expect(words).toMatch(/\d+\.\d+\.\d+/)
      counts.push(Number(/\t([\d,]+)\t/.exec(words)?.[1]?.replaceAll(',', '')))
      expect(await row.locator('time').getAttribute('title')).toMatch(/\d{4} at \d\d:\d\d:\d\d UTC/)
    }
    expect(counts).toEqual(counts.toSorted((a, b) => b - a))
    expect(counts.at(-1)).toBeGreaterThan(0)
    // Each links to its version.
    const href = await rows.first().getByRole('link').first().getAttribute('href')
    expect(href).toMatch(/^\/[a-z]+\/(?:module|provider)\/[a-z-]+\?version=/)
    expect(problems).toEqual([])
    await close()
  })

  it('every number on the statistics page links to the list that it counts', async () => {
    const { page, problems, close } = await showcase.open('/stats?namespace=platform')
    await settled(page)
    const found = await page.locator('main').evaluate((main) => {
      const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT)
      const alone: string[] = []
      const links = new Map<string, string>()
      while (texts.nextNode()) {
        const { textContent, parentElement } = texts.currentNode
        const words = textContent ?? ''
        // Ranks, versions, times, and the words of a heading are not counts.
        if (!/\d/.test(words) || parentElement?.closest('option, .only-wide, code, time, header'))
          continue
        const link = parentElement?.closest('a')
        if (!link) alone.push(words)
        else links.set((link.textContent ?? '').replace(/[\d,.]+.*/, '').trim(), link.search)
      }
      return { alone, links: Object.fromEntries(links) }
    })
    expect(found.alone).toEqual([])
    const here = 'namespace=platform'
    expect(found.links).toMatchObject({
      Modules: `?${here}&kind=module`,
      Providers: `?${here}&kind=provider`,
      Versions: `?${here}&sort_by=latestVersion&sort_dir=desc`,
      Storage: `?${here}`,
      Downloads: `?${here}&sort_by=totalDownloads&sort_dir=desc`,
      CRITICAL: `?${here}&severity=CRITICAL`,
      HIGH: `?${here}&severity=HIGH`,
      MEDIUM: `?${here}&severity=MEDIUM`,
      LOW: `?${here}&severity=LOW`,
      UNKNOWN: `?${here}&sort_by=severity&sort_dir=desc`,
    })
    expect(await problemsInEveryLook(page)).toEqual([])
    const header = page.locator('section[aria-labelledby=posture] header')
    const affected = Number((await header.innerText()).match(/(\d+) resources affected/)?.[1])
    await header.getByRole('link').click()
    await page.getByText(`1 to ${affected} of ${affected} results`).waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('a module has a chart of 30 days, and the downloads of each version', async () => {
    const { page, problems, asked, close } = await showcase.open('/network/module/vpc?tab=versions')
    const section = page.locator('section[aria-labelledby=downloads]')
    const chart = section.getByRole('img', { name: /downloads from .* at most .* a day/ })
    await chart.waitFor()
    expect(asked.some((url) => /\/vpc\/downloads(?:\?|$)/.test(url))).toBe(true)
    await section.getByText(/in 30 days/).waitFor()
    const version = section.locator('dt a').first()
    const number = await version.innerText()
    await version.click()
    await expect.poll(() => new URL(page.url()).searchParams.get('version')).toBe(number)
    expect(problems).toEqual([])
    await close()
  })

  it.each([
    ['as they are', {}],
    [
      'with the widest values that they can have',
      {
        scanCounts: { critical: 1234, high: 1234, medium: 1234, low: 1234, unknown: 1234 },
        downloadCount: 123_456_789,
        lastDownloadedAt: new Date(Date.now() - 360 * 86_400_000).toISOString(),
        archiveSizeBytes: 1000 * 1024 ** 2,
        syncStatus: 'synced',
        synced: false,
      },
    ],
  ])('versions of a provider, %s, need no sideways scrolling at any width', async (_what, wide) => {
    const { page, problems, close } = await watch(showcase.browser, showcase.explorer.url)
    await page.route(/\/-\/api\/.*\/versions/, async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as { items: object[] }
      const items = answer.items.map((item) => ({ ...item, ...wide }))
      await route.fulfill({ response, json: { ...answer, items } })
    })
    await page.goto('/platform/provider/acme-cmdb')
    await settled(page)
    const table = page.getByRole('table', { name: 'Versions' })
    await page.getByRole('button', { name: 'Open all' }).click()
    await expect.poll(() => table.locator('.platforms li').count()).toBe(20)
    // The table of upgrades has no size while it is folded.
    await page.evaluate(() => {
      for (const fold of document.querySelectorAll('details')) fold.open = true
    })
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      for (const width of [320, 768, 993, 1153, 1201, 1265, 1280]) {
        await page.setViewportSize({ width, height: 900 })
        const hidden = await page.evaluate(() =>
          [...document.querySelectorAll('.tbl')].map((box) => box.scrollWidth - box.clientWidth),
        )
        expect([theme, width, ...hidden]).toEqual([theme, width, ...hidden.map(() => 0)])
      }
    }
    expect(problems).toEqual([])
    await close()
  })

  it('anyone can fetch the badge of a public module from the explorer', async () => {
    const at = (path: string): Promise<Response> =>
      fetch(`${showcase.explorer.url}/depot/ui/v1/badges/${path}`, {
        headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' },
      })
    const badge = await at('network/module/vpc.svg')
    expect([badge.status, badge.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(await badge.text()).toContain('6.41.0')
    const { page, close } = await watch(showcase.browser, showcase.explorer.url)
    await page.goto(`${showcase.explorer.url}/depot/ui/v1/badges/network/module/vpc.svg`)
    expect(await page.locator('svg').count()).toBe(1)
    await close()
  })
})
