import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, loadDrawn, settled, watch } from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

let shown: Showcase
beforeAll(async () => {
  if (chromiumPath !== undefined) shown = await startShowcase()
})
afterAll(() => shown?.stop())

/** The place and the text of each part of the list. */
async function lookOf(path: string, width: number, scripts: boolean) {
  const { page, problems, close } = await watch(
    shown.browser,
    shown.explorer.url,
    { width },
    { javaScriptEnabled: scripts },
  )
  if (scripts) {
    await page.goto(path)
    await settled(page)
  } else await loadDrawn(page, path)
  const parts = page.locator('main h1, .filters, .chips, .region tr, .region .card, .foot')
  const boxes = await Promise.all(
    (await parts.all()).map(async (part) => {
      const box = await part.boundingBox()
      // The app fills in the list of namespaces.
      const words = await part.evaluate((element) =>
        element.matches('.filters') ? '' : element.textContent,
      )
      return [words, box?.x, box?.y, box?.width, box?.height]
    }),
  )
  expect(problems).toEqual([])
  await close()
  return boxes
}

describe.skipIf(chromiumPath === undefined)('the page of the server', () => {
  for (const width of [320, 768, 1280]) {
    it.each(['/', '/?view=cards', '/?q=vpc&kind=module'])(
      `looks like the page of the app, with everything in the same place: %s at ${width} px`,
      async (path) => {
        const before = await lookOf(path, width, false)
        const after = await lookOf(path, width, true)
        expect(before.length).toBeGreaterThan(4)
        expect(before).toEqual(after)
      },
    )
  }

  it.each(['/', '/?view=cards'])(
    'is on the screen before the app replaces it: %s',
    async (path) => {
      const { page, close } = await watch(shown.browser, shown.explorer.url)
      await page.addInitScript(() => {
        const seen = { shown: 0, started: 0 }
        Object.assign(globalThis, { seen })
        new PerformanceObserver((list) => {
          seen.shown ||= list.getEntries()[0]?.startTime ?? 0
        }).observe({ type: 'element', buffered: true })
        const watching = new MutationObserver(() => {
          const app = document.querySelector('.app')
          if (app !== null && !app.hasAttribute('aria-busy')) seen.started ||= performance.now()
        })
        watching.observe(document, { subtree: true, childList: true, attributes: true })
      })
      await loadDrawn(page, path)
      await expect.poll(() => page.evaluate<number>('seen.shown')).toBeGreaterThan(0)
      const seen = await page.evaluate<{ shown: number; started: number }>('seen')
      expect(seen.shown).toBeLessThan(seen.started)
      await close()
    },
  )

  it('has working links before the app has started', async () => {
    const { page, close } = await watch(
      shown.browser,
      shown.explorer.url,
      {},
      { javaScriptEnabled: false },
    )
    await loadDrawn(page, '/')
    await page.getByRole('link', { name: 'vpc', exact: true }).click()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/network/module/vpc')
    // Without scripts, nothing may look like it is loading.
    await page.locator('.noscript').waitFor()
    expect(await page.locator('.first-rows').isVisible()).toBe(false)
    await close()
  })
})
