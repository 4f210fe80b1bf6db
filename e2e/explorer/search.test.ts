import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { chromiumPath, problemsInEveryLook, settled, watch } from './browser.fixture.ts'
import { showDocumented } from './documented-module.fixture.ts'

/* The search in names and documentation, in a real browser. */

let shown: Awaited<ReturnType<typeof showDocumented>>
beforeAll(async () => {
  if (chromiumPath === undefined) return
  const text = 'variable "query_flow_log" {}\noutput "flow_log_arn" {\n  value = 1\n}\n'
  const vpc = ['3.0.0', '2.0.0', '1.0.0'].map((version) => [version, 'variable "cidr" {}'] as const)
  shown = await showDocumented({ 'private-dns': [['1.0.0', text]], vpc })
  const question = `${shown.url}/depot/ui/v1/search?q=flow`
  const isFound = async () => (await (await fetch(question)).text()).includes('query_flow_log')
  await vi.waitUntil(isFound, { timeout: 30_000 })
})
afterAll(() => shown?.close())

const widths = [320, 768, 1440]

async function openPalette(expected: readonly number[] = []) {
  const watched = await watch(shown.browser, shown.url, { expected })
  const { page, asked } = watched
  // Before the page loads, because a timer of the browser's own clock is lost when the test's clock replaces it.
  await page.clock.install()
  await page.goto('/stats')
  await settled(page)
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Go to' })
  return {
    ...watched,
    palette,
    field: page.getByRole('combobox', { name: 'Go to a module' }),
    option: palette.getByRole('option', { name: /network\/private-dns/ }),
    searches: () => asked.filter((url) => url.startsWith('/-/api/search')),
  }
}

describe.skipIf(chromiumPath === undefined)('the search of the palette', () => {
  it('sends a request 120 ms after the last key, from the second letter on', async () => {
    const { page, problems, field, option, searches, close } = await openPalette()
    await page.clock.pauseAt(Date.now() + 60_000)
    await field.fill('f')
    await page.clock.runFor(1000)
    await field.fill('fl')
    await page.clock.runFor(60)
    await field.fill('flo')
    await page.clock.runFor(100)
    expect(searches()).toEqual([])
    await vi.waitUntil(async () => {
      await page.clock.runFor(60)
      return option.isVisible()
    }, 30_000)
    expect(searches()).toEqual(['/-/api/search?q=flo&limit=8'])
    expect(problems).toEqual([])
    await close()
  })

  it('keeps the previous answer while the next one loads', async () => {
    const { page, problems, field, palette, option, close } = await openPalette()
    await field.fill('flow')
    await option.waitFor()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/-/api/search?q=vpc*', async (route) => {
      await released
      await route.continue()
    })
    const asking = page.waitForRequest('**/-/api/search?q=vpc*')
    await field.fill('vpc')
    await asking
    expect(await option.isVisible()).toBe(true)
    release()
    await palette.getByRole('option', { name: /network\/vpc/ }).waitFor()
    expect(await option.count()).toBe(0)
    expect(problems).toEqual([])
    await close()
  })

  it('shows what matched, marked', async () => {
    const { page, problems, field, option, close } = await openPalette()
    await field.fill('flow log')
    await option.waitFor()
    expect(await option.innerText()).toMatch(/Input query_flow_log, Output flow_log_arn/)
    expect(await option.locator('mark').allInnerTexts()).toEqual(['flow', 'log', 'flow', 'log'])
    await page.getByRole('dialog').getByText('1 result', { exact: true }).waitFor()
    expect(await problemsInEveryLook(page, widths)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it.each([
    ['everyone', 'anonymous', 'so no permission is missing'],
    ['some people', 'guest', 'that you may see. If it should be there, open Access'],
  ])('says what it searched if %s may see everything', async (_, kind, text) => {
    const { page, problems, field, palette, close } = await openPalette()
    await page.route('**/-/api/whoami', (route) =>
      route.fulfill({ json: { mode: 'oidc', kind, groups: [], access: 'what is public' } }),
    )
    await field.fill('<b>rabbit')
    await palette.getByText('Nothing matches “<b>rabbit”.').waitFor()
    await palette.getByRole('status').getByText('README headings').waitFor()
    await palette.getByRole('status').getByText(text).waitFor()
    await palette.getByRole('option', { name: 'Access' }).waitFor()
    expect(await problemsInEveryLook(page, widths)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('finds the page of a pasted block, and says how far behind the block is', async () => {
    const { page, problems, field, palette, close } = await openPalette()
    const block = `module "vpc" {
  source  = "depot.example.com/network/vpc/aws"
  version = "1.0.0"
}`
    await page.evaluate((text) => navigator.clipboard.writeText(text), block)
    await field.press('Control+v')
    const found = palette.getByRole('group', { name: 'From what you pasted' }).getByRole('option')
    await found.first().getByText('You use 1.0.0: 2 versions behind. Latest is 3.0.0.').waitFor()
    expect(await found.allInnerTexts()).toEqual([
      expect.stringContaining('network/vpc/aws'),
      'Compare 1.0.0 with 3.0.0',
      'Copy the block with 3.0.0',
      'Open 2.0.0',
      'Open 1.0.0',
    ])
    expect(await palette.getByRole('group', { name: 'Modules and providers' }).count()).toBe(0)
    expect(await problemsInEveryLook(page, widths)).toEqual([])
    await field.press('ArrowDown')
    await field.press('Enter')
    await page.waitForURL('**/network/module/vpc/compare/1.0.0...3.0.0')
    await page.keyboard.press('Control+k')
    await field.fill('depot.example.com/nobody/none/aws')
    await palette.getByText('nobody/none/aws is not in this registry, or not visible').waitFor()
    await field.fill('depot.example.com/network/vpc/aws//modules/flow')
    await found.first().getByText('network/vpc/aws, flow').waitFor()
    await field.press('Enter')
    await page.waitForURL('**/network/module/vpc/submodules/flow')
    await page.keyboard.press('Control+k')
    await field.fill('depot.example.com/network/vpc/aws')
    await found.first().waitFor()
    await field.press('Enter')
    await page.waitForURL('**/network/module/vpc')
    expect(problems).toEqual([])
    await close()
  })

  it('copies a pasted block with the latest version', async () => {
    const { page, problems, field, palette, close } = await openPalette()
    const block = (version: string) => `module "vpc" {
  source  = "depot.example.com/network/vpc/aws"
  version = "${version}"
  cidr    = "10.0.0.0/16"
}`
    await page.evaluate((text) => navigator.clipboard.writeText(text), block('2.0.0'))
    await field.press('Control+v')
    const copy = palette.getByRole('option', { name: 'Copy the block with 3.0.0' })
    await copy.click()
    await palette.getByRole('status').getByText('Copied.').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(block('3.0.0'))
    expect(await problemsInEveryLook(page, widths)).toEqual([])
    // As on http pages of other machines.
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
    await copy.click()
    await palette.getByRole('status').getByText('The browser did not allow copying').waitFor()
    await field.fill('source = "depot.example.com/network/vpc/aws" version = "2.0.0"')
    await copy.waitFor({ state: 'detached' })
    await palette.getByRole('option', { name: 'Open 2.0.0' }).waitFor()
    await field.fill('source = "depot.example.com/network/vpc/aws" version = "= 1.0.0"')
    await palette.getByRole('option', { name: 'Compare 1.0.0 with 3.0.0' }).waitFor()
    await field.fill('source = "depot.example.com/network/vpc/aws" version = "v3.0.0"')
    const found = palette.getByRole('group', { name: 'From what you pasted' }).getByRole('option')
    await found.getByText('You use 3.0.0, the latest.').waitFor()
    expect(await found.count()).toBe(1)
    expect(problems).toEqual([])
    await close()
  })

  it('says what to do after an error, and offers every page', async () => {
    const { page, problems, field, palette, option, close } = await openPalette([400, 500])
    await field.fill('a b c d e f g h i')
    await palette.getByRole('alert').getByText('search for fewer words').waitFor()
    await palette.getByRole('option', { name: 'Access' }).waitFor()
    const failing = /\/-\/api\/search/
    await page.route(failing, (route) =>
      route.fulfill({ status: 500, json: { errors: ['the disk is full'] } }),
    )
    await field.fill('query')
    await palette.getByText('The disk is full').waitFor()
    await palette.getByRole('option', { name: 'Depots' }).waitFor()
    expect(await problemsInEveryLook(page, widths)).toEqual([])
    await page.unroute(failing)
    await palette.getByRole('button', { name: 'Retry' }).click()
    await option.click()
    await page.waitForURL('**/network/module/private-dns')
    expect(problems).toEqual([])
    await close()
  })
})

describe.skipIf(chromiumPath === undefined)('the search of the list', () => {
  const open = async (path: string) => {
    const watched = await watch(shown.browser, shown.url)
    await watched.page.goto(path)
    await settled(watched.page)
    return watched
  }

  it('searches documentation from the second letter on', async () => {
    const { page, problems, asked, close } = await open('/')
    const field = page.getByRole('searchbox', { name: 'Search names and docs' })
    await field.fill('f')
    await page.getByText('Nothing matches these filters.').waitFor()
    await field.fill('fl')
    await page.getByRole('link', { name: 'private-dns' }).waitFor()
    expect(new URL(page.url()).search).toBe('?q=fl')
    expect(asked.filter((url) => url.startsWith('/-/api/resources?'))).toEqual([
      '/-/api/resources?q=f',
      '/-/api/resources?q=fl&match=any',
    ])
    expect(problems).toEqual([])
    await close()
  })

  it('finds the module of a pasted source', async () => {
    const { page, problems, close } = await open('/')
    const field = page.getByRole('searchbox', { name: 'Search names and docs' })
    await field.fill('source = "depot.example.com/network/vpc/aws"')
    await page.waitForURL('**/?q=network%2Fvpc%2Faws')
    expect(await field.inputValue()).toBe('network/vpc/aws')
    await page.getByText('1 result', { exact: true }).waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it.each(['table', 'cards'])('shows what matched, marked, as %s', async (view) => {
    const { page, problems, close } = await open(`/?view=${view}&q=flow+dns`)
    const found = page.locator('main .addr')
    expect(await found.innerText()).toBe(
      'Module\nnetwork/private-dns\nInput query_flow_log, Output flow_log_arn',
    )
    expect(await found.locator('mark').allInnerTexts()).toEqual(['dns', 'flow', 'flow'])
    expect(await problemsInEveryLook(page, widths)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('says what it searched, and links to the page that says how to ask for access', async () => {
    const { page, problems, close } = await open('/')
    await page.route('**/-/api/whoami', (route) =>
      route.fulfill({
        json: { mode: 'oidc', kind: 'guest', groups: [], access: 'what is public' },
      }),
    )
    await page.getByRole('searchbox', { name: 'Search names and docs' }).fill('rabbit')
    await page.locator('main').getByText('README headings').waitFor()
    expect(await problemsInEveryLook(page, widths)).toEqual([])
    await page.locator('main').getByRole('link', { name: 'Access' }).click()
    await page.getByRole('heading', { level: 1, name: 'Access' }).waitFor()
    expect(problems).toEqual([])
    await close()
  })
})
