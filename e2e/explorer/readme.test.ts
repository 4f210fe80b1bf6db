import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { heavyTexts, hostileTexts } from '../../pkg/explorer/web/resource/readme/hostile.fixture.ts'
import { chromiumPath, watch, withReadme } from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

/* A hundred hostile READMEs in a real browser: nothing runs, no request leaves, no style escapes, the page stays usable. */

let showcase: Showcase

beforeAll(async () => {
  if (chromiumPath !== undefined) showcase = await startShowcase()
})
afterAll(() => showcase?.stop())

const perPage = 10
const pages = Array.from({ length: Math.ceil(hostileTexts.length / perPage) }, (_, at) =>
  hostileTexts.slice(at * perPage, (at + 1) * perPage).join('\n\n'),
)
const path = '/network/module/vpc'

describe.skipIf(chromiumPath === undefined)('a README', () => {
  it('shows each alert, its title above its text', async () => {
    const kinds = ['Note', 'Tip', 'Important', 'Warning', 'Caution']
    const { page, problems, close } = await watch(showcase.browser, showcase.explorer.url)
    const quotes = kinds.map((kind) => `> [!${kind.toUpperCase()}]\n> Text of ${kind}`)
    await withReadme(page, path, quotes.join('\n\n'))
    await page.goto(path)
    for (const kind of kinds) {
      const title = await page.locator('.prose').getByText(kind, { exact: true }).boundingBox()
      const text = await page.getByText(`Text of ${kind}`).boundingBox()
      expect(text?.x).toBe(title?.x)
      expect(text?.y).toBeGreaterThan(title?.y ?? Infinity)
    }
    expect(problems).toEqual([])
    await close()
  })
})

describe.skipIf(chromiumPath === undefined)('a hostile README', () => {
  it.each([...pages.entries()])('page %i of them has no effect', async (_at, markdown) => {
    const { page, problems, close } = await watch(showcase.browser, showcase.explorer.url)
    await withReadme(page, path, markdown)
    const sent: string[] = []
    page.on('request', (request) => void sent.push(request.url()))
    await page.goto(path)
    await page.locator('.prose:not([aria-busy])').waitFor({ state: 'attached' })
    await page.waitForLoadState('networkidle')
    expect(await page.evaluate('globalThis.ran')).toBeUndefined()
    expect(
      await page
        .locator('.prose :is(script, img, iframe, style, form, svg:not(.i), video, [style])')
        .count(),
    ).toBe(0)
    const escaped = await page.evaluate(
      () =>
        [...document.querySelectorAll('.prose *')].filter((element) => {
          const { position } = getComputedStyle(element)
          return position === 'fixed' || element.getBoundingClientRect().left < 0
        }).length,
    )
    expect(escaped).toBe(0)
    const hosts = new Set(sent.map((url) => new URL(url).host))
    expect([...hosts]).toEqual([new URL(showcase.explorer.url).host])
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    expect(await page.locator('#usage').isVisible()).toBe(true)
    expect(problems).toEqual([])
    await close()
  })

  it('leaves the page usable within seconds if it is expensive to render', async () => {
    const { page, problems, close } = await watch(showcase.browser, showcase.explorer.url)
    for (const markdown of heavyTexts.filter((_, at) => at % 3 === 0)) {
      await withReadme(page, path, markdown)
      await page.goto(path)
      await page.locator('.prose:not([aria-busy])').waitFor({ timeout: 15_000 })
      await page.getByRole('button', { name: 'Copy usage block' }).first().click()
      await page.unrouteAll()
    }
    expect(problems).toEqual([])
    await close()
  })
})
