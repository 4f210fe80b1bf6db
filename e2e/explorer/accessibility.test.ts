import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { showcase as samples, showcaseDepots } from '../../hack/testbed/explorer/showcase.ts'
import {
  chromiumPath,
  load,
  problemsInEveryLook,
  settled,
  watch,
  withReadme,
} from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

/*
 * Every page and everything that opens on it, in both themes and at three widths: axe-core finds nothing, and nothing is wider
 * than the page.
 */

let showcase: Showcase

beforeAll(async () => {
  if (chromiumPath !== undefined) showcase = await startShowcase(samples, showcaseDepots, [], true)
})
afterAll(() => showcase?.stop())

interface View {
  readonly name: string
  readonly path: string
  /** The status of the page. The browser reports any status except 200 as a console error. */
  readonly status?: number
  /** The status of an answer that the page requests, which the browser also reports. */
  readonly refused?: number
  /** Prepares the page before it is checked. */
  readonly act?: (page: Page) => Promise<unknown>
  readonly widths?: readonly number[]
}

const pressK = (page: Page): Promise<void> => page.keyboard.press('Control+k')

const views: readonly View[] = [
  { name: 'the table of resources', path: '/' },
  { name: 'cards', path: '/?view=cards&severity=HIGH&kind=module' },
  { name: 'a filter that nothing matches', path: '/?q=nothing-is-called-this' },
  {
    name: 'the versions of a module, and its downloads',
    path: '/network/module/vpc?tab=versions',
    act: async (page) => {
      const downloads = page.locator('section[aria-labelledby=downloads]')
      await downloads.getByRole('img', { name: /downloads from .* at most .* a day/ }).waitFor()
      await downloads.getByRole('link').first().waitFor()
    },
  },
  { name: 'a version that does not exist', path: '/data/module/redis?version=99.0.0' },
  {
    name: 'a comparison of versions without documentation',
    path: '/network/module/vpc/compare',
    refused: 404,
  },
  { name: 'a provider', path: '/platform/provider/acme-cmdb' },
  {
    name: 'the documentation of a provider that has none',
    path: '/platform/provider/acme-cmdb/docs',
    refused: 404,
  },
  { name: 'a resource that is not there', path: '/network/module/nothing', status: 404 },
  { name: 'a page that is not there', path: '/nothing/at/all/here', status: 404 },
  { name: 'the drawing of depots', path: '/depots?view=graph' },
  { name: 'a panel of the drawing', path: '/depots?node=network/core-modules&view=graph' },
  { name: 'the overview of depots', path: '/depots?view=list&node=network/module/vpc' },
  { name: 'the hits among depots', path: '/depots?q=vpc&node=network/core-modules' },
  { name: 'a single depot', path: '/depots?namespace=network&view=graph' },
  { name: 'the statistics', path: '/stats' },
  { name: 'conflicts', path: '/conflicts' },
  { name: 'publishing', path: '/publish' },
  { name: 'access', path: '/access?resource=payments/module/pci-vault' },
  { name: 'access without a resource', path: '/access' },
  { name: 'a sign-in that failed', path: '/auth/error?reason=TooManyGroups&count=900' },
  {
    name: 'the palette',
    path: '/',
    act: async (page) => {
      await pressK(page)
      await page.getByRole('combobox', { name: 'Go to a module' }).waitFor()
      await page.keyboard.type('vpc')
      await page
        .getByRole('option', { name: /network\/vpc/ })
        .first()
        .waitFor()
    },
  },
  {
    name: 'the list of keys',
    path: '/stats',
    act: async (page) => {
      await page.keyboard.press('?')
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'the tooltip',
    path: '/platform/module/eks-cluster',
    act: async (page) => {
      await page.locator('.meta .amber').focus()
      await page.locator('.meta').getByRole('tooltip').waitFor()
    },
  },
  {
    name: 'the sidebar of a narrow window',
    path: '/',
    act: (page) => page.getByRole('button', { name: 'Menu' }).click(),
    widths: [320],
  },
  {
    name: 'the filters of a narrow window',
    path: '/',
    act: (page) => page.locator('.filters summary').click(),
    widths: [320],
  },
]

describe.skipIf(chromiumPath === undefined)('the views', () => {
  const pathOf = (url: string): string => url.replace(/\?.*/, '')

  it('include every page that the navigation links to', async () => {
    const { page, close } = await showcase.open('/')
    await settled(page)
    const hrefs = await page
      .locator('#side a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
    expect(hrefs.length).toBeGreaterThan(3)
    const opened = views.map(({ path }) => pathOf(path))
    expect(opened).toEqual(expect.arrayContaining(hrefs.map(pathOf)))
    await close()
  })

  it('show what is chosen if the system forces its colours', async () => {
    const { page, close } = await showcase.open('/depots?view=list&node=network/core-modules')
    await page.emulateMedia({ forcedColors: 'active' })
    const chosen = page.locator('.cells a[aria-current]')
    expect(await chosen.evaluate((link) => getComputedStyle(link).outlineStyle)).toBe('solid')
    await close()
  })
})

describe.skipIf(chromiumPath === undefined)('both themes at every width', () => {
  it.each(views)('$name', async ({ path, act, status, refused, widths = [320, 768, 1440] }) => {
    const look = { width: Math.max(...widths), expected: [status ?? [], refused ?? []].flat() }
    const { page, problems, close } = await watch(showcase.browser, showcase.explorer.url, look)
    await withReadme(page, '/network/module/vpc', readme)
    await load(page, path, status ?? 200)
    await settled(page)
    await act?.(page)
    expect(await problemsInEveryLook(page, widths)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })
})

const readme = `# VPC

Text with a [link](https://example.com), \`code\` and a picture ![of it](https://example.com/a.png).

### A heading that leaves out a level

| Name | | Description |
|------|---|-------------|
| \`a_very_long_name_of_an_input_that_nobody_would_ever_type_by_hand\` | | text |

- [x] done

\`\`\`hcl
module "vpc" {
  source = "example.com/a_very_long_address_of_a_module/that/makes_the_line_much_longer_than_the_window"
}
\`\`\`

[^1]: note

Text[^1]
`
