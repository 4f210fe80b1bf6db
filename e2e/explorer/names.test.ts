import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, settled, watch } from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

/* Names that are long, contain markup, or any other character, in the answers of a server that allows them. */

const long = 'observability-collector-daemonset-with-tail-sampling-and-egress'
const printable = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join('')
const names = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  "'; alert(1); //",
  '</script><script>alert(1)</script>',
  '<style>*{display:none}</style>',
  'javascript:alert(1)',
  '{{constructor.constructor("alert(1)")()}}',
  printable,
  'controls\u0000\u0007\u001b[31m\u007f',
  'reversed \u202egpj.exe',
  'wide ｆｕｌｌ 😀 e\u0301\u0301\u0301\u0301',
  'x'.repeat(253),
]

let showcase: Showcase
beforeAll(async () => {
  if (chromiumPath !== undefined) showcase = await startShowcase()
})
afterAll(() => showcase?.stop())

const item = (name: string) => ({
  namespace: name,
  kind: 'module',
  name,
  provider: name,
  latestVersion: name,
  synced: true,
  public: true,
  totalDownloads: 1_234_567_890,
  hasUnsyncedVersions: true,
  scanCounts: { critical: 12_345, high: 99_999, medium: 10_000, low: 45_678, unknown: 98_765 },
})

describe.skipIf(chromiumPath === undefined)('names', () => {
  it.each(['/?view=table', '/?view=cards'])(
    'with markup and any character are shown as text: %s',
    async (path) => {
      const { page, problems, close } = await watch(showcase.browser, showcase.explorer.url, {
        expected: [404],
      })
      const dialogs: string[] = []
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message())
        void dialog.dismiss()
      })
      await page.route('**/-/api/resources?q=odd*', (route) =>
        route.fulfill({
          json: { items: names.map(item), totalCount: names.length, page: 1, pageSize: 20 },
        }),
      )
      await page.goto(path)
      await page.getByLabel('Search names').fill('odd')
      await page.getByText(`${names.length} results`, { exact: true }).waitFor()
      const links = page.locator('main .addr a')
      // HTML has no zero byte.
      const shown = (await links.allTextContents()).map((name) =>
        name.replaceAll('\ufffd', '\u0000'),
      )
      expect(shown).toEqual(names)
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(over).toBe(0)
      expect(await page.locator('main img, main style, main script').count()).toBe(0)
      for (const width of [320, 768]) {
        await page.setViewportSize({ width, height: 900 })
        const beyond = await page.locator('main .sev, main .addr, main code').evaluateAll((parts) =>
          parts.filter((part) => {
            const box = part.closest('.card, tr')?.getBoundingClientRect()
            return part.getBoundingClientRect().right > (box?.right ?? 0) + 1
          }),
        )
        expect([width, beyond.length]).toEqual([width, 0])
      }
      await links.first().click()
      await page.getByText('Not found, or not visible to you.').waitFor()
      expect(dialogs).toEqual([])
      expect(problems).toEqual([])
      await close()
    },
  )

  it.each([320, 768, 1280])(
    'with 63 letters are complete in three lines of a card at %i px',
    async (width) => {
      const { page, problems, close } = await showcase.open(`/?view=cards&q=${long}`, { width })
      await settled(page)
      const name = page.locator('.card .addr a b')
      expect(await name.textContent()).toBe(long)
      const { lines, hidden } = await name.evaluate((element) => {
        const tops = new Set([...element.getClientRects()].map(({ top }) => Math.round(top)))
        const { overflow, textOverflow } = getComputedStyle(element)
        return { lines: tops.size, hidden: overflow === 'hidden' || textOverflow === 'ellipsis' }
      })
      expect(lines).toBeLessThanOrEqual(3)
      expect(hidden).toBe(false)
      expect(problems).toEqual([])
      await close()
    },
  )

  it('with 63 letters need no sideways scrolling at 400 % zoom', async () => {
    // 1280 px at 400 % are 320 px of CSS, on a screen with four times the pixels.
    const { page, close } = await watch(
      showcase.browser,
      showcase.explorer.url,
      { width: 320, height: 256 },
      { deviceScaleFactor: 4 },
    )
    for (const path of ['/', `/platform/module/${long}`, '/stats', '/access', '/depots']) {
      await page.goto(path)
      await settled(page)
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect([path, over]).toEqual([path, 0])
    }
    await close()
  })
})
