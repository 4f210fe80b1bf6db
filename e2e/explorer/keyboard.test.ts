import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath } from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

/* The main task and other tasks, without a mouse. */

let showcase: Showcase

beforeAll(async () => {
  if (chromiumPath !== undefined) showcase = await startShowcase()
})
afterAll(() => showcase?.stop())

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement
    return element?.getAttribute('aria-label') ?? (element as HTMLElement | null)?.innerText ?? ''
  })

/** Presses `g` and a letter, and repeats that if a busy machine exceeded the page's limit between the two. */
async function goWith(page: Page, letter: string, path: string): Promise<void> {
  const go = async (): Promise<string> => {
    await page.keyboard.press('g')
    await page.keyboard.press(letter)
    return new URL(page.url()).pathname
  }
  await expect.poll(go).toBe(path)
}

async function dialogClosed(page: Page): Promise<void> {
  await expect.poll(() => page.locator('dialog').count()).toBe(0)
}

/** Presses Tab until an element of that name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = []
  for (let step = 0; step < 150; step += 1) {
    await page.keyboard.press('Tab')
    const words = (await focused(page)).trim()
    if (name.test(words)) return
    passed.push(words)
  }
  throw new Error(`Tab never came to ${String(name)}; it passed ${passed.join(' | ')}`)
}

describe.skipIf(chromiumPath === undefined)('with keys alone', () => {
  it('a person finds a module, opens it, chooses a version and copies the block', async () => {
    const { page, problems, close } = await showcase.open('/')
    await page.keyboard.press('/')
    await page.keyboard.type('vpc')
    await page.waitForURL('**/?q=vpc')
    await expect
      .poll(() => page.locator('main [role=status]').first().innerText())
      .toBe('2 results')
    await tabTo(page, /^vpc$/)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/network/module/vpc')
    await page.locator('#usage').waitFor()
    await expect.poll(() => focused(page)).toBe('vpc')
    await tabTo(page, /^Versions/)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/network/module/vpc?tab=versions')
    await tabTo(page, /^6\.40\.1$/)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/network/module/vpc?version=6.40.1')
    await page.locator('.meta').getByText('6.40.1', { exact: true }).waitFor()
    await page.keyboard.press('Shift+Tab')
    await page.locator('.aside .btn.main').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('#announcements').innerText()).toBe('Copied')
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
      'version = "6.40.1"',
    )
    expect(problems).toEqual([])
    await close()
  })

  it('the first Tab leads to the content, past the sidebar', async () => {
    const { page, close } = await showcase.open('/')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true)
    await close()
  })

  it('the palette finds, moves, opens, and returns the focus', async () => {
    const { page, problems, close } = await showcase.open('/stats')
    const link = page.getByRole('link', { name: 'Access' })
    await link.focus()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Go to a module' }).waitFor()
    await page.keyboard.type('redis')
    const option = page.getByRole('option', { name: /data\/redis/ })
    await option.waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Escape')
    await dialogClosed(page)
    expect(await link.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Go to a module' }).waitFor()
    await page.keyboard.type('redis')
    await option.waitFor()
    const opened = page.context().waitForEvent('page')
    await page.keyboard.press('Control+Enter')
    expect((await opened).url()).toContain('/data/module/redis')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/data/module/redis')
    await page.locator('#usage').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: /redis/ }).waitFor()
    expect(await page.getByRole('group', { name: 'Visited' }).innerText()).toContain('data/redis')
    expect(problems).toEqual([])
    await close()
  })

  it('letters open pages, except in fields and when they are switched off', async () => {
    const { page, problems, close } = await showcase.open('/')
    await goWith(page, 's', '/stats')
    await goWith(page, 'd', '/depots')
    await page.getByLabel('Find a depot, module or provider').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('gsgr')
    await page.waitForURL('**/depots?q=gsgr')
    await page.locator('h1').focus()
    await page.keyboard.press('?')
    await page.getByLabel('Shortcuts without Ctrl').uncheck()
    await page.keyboard.press('Escape')
    await dialogClosed(page)
    for (const key of ['?', 'g', 'r']) await page.keyboard.press(key)
    // A key that works comes after these, so by now the page would show their effect.
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Go to a module' }).waitFor()
    expect(await page.locator('dialog').count()).toBe(1)
    expect(page.url()).toContain('/depots')
    expect(problems).toEqual([])
    await close()
  })

  it('arrows move in the drawing of depots, Enter opens a panel, Escape closes it', async () => {
    const { page, problems, close } = await showcase.open('/depots')
    const current = (): Promise<string> =>
      page.evaluate(() => document.activeElement?.textContent ?? '')
    await page.locator('.box').first().focus()
    expect(await current()).toMatch(/^depot data\/data-modules/)
    await page.keyboard.press('ArrowDown')
    expect(await current()).toMatch(/^depot hashicorp\/mirror/)
    await page.keyboard.press('ArrowRight')
    expect(await current()).toMatch(/^provider hashicorp\/google.*not synced$/)
    await page.keyboard.press('End')
    expect(await current()).toMatch(/^provider platform\/acme-cmdb/)
    await page.keyboard.press('ArrowLeft')
    expect(await current()).toMatch(/^depot platform\/cluster-modules/)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'depot platform/cluster-modules' }).waitFor()
    expect(page.url()).toContain('node=')
    await page.getByRole('button', { name: 'Close' }).focus()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.panel').count()).toBe(0)
    expect(await current()).toMatch(/^depot platform\/cluster-modules/)
    await page.keyboard.press('Home')
    expect(await current()).toMatch(/^depot data\/data-modules/)
    expect(problems).toEqual([])
    await close()
  })

  it('Enter jumps from hit to hit of a search for depots, Escape restores the view', async () => {
    const { page, problems, close } = await showcase.open('/depots?node=data/data-modules')
    await page.keyboard.press('/')
    await page.keyboard.type('s3')
    await page.getByText('2 hits in 2 depots').waitFor()
    expect(await page.locator('.depot-rows li').allInnerTexts()).toHaveLength(2)
    const current = page.locator('.panel .list [aria-current]')
    await page.keyboard.press('Enter')
    await page.getByText('1 of 2, in 2 depots').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('2 of 2, in 2 depots').waitFor()
    await page.getByRole('region', { name: 'depot payments/pci' }).waitFor()
    expect(await current.innerText()).toContain('data/s3-bucket')
    await page.keyboard.press('Shift+Enter')
    await page.getByText('1 of 2, in 2 depots').waitFor()
    await page.getByRole('button', { name: 'Previous hit' }).click()
    await page.getByText('2 of 2, in 2 depots').waitFor()
    await page.getByLabel('Find a depot, module or provider').press('Escape')
    await page.waitForURL('**/depots?node=data%2Fdata-modules')
    await page.locator('.box[aria-current]', { hasText: 'data/data-modules' }).waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('a chosen theme is shown at once, and the server sends it with later pages', async () => {
    const { page, problems, close } = await showcase.open('/')
    await page.getByLabel('Dark').check()
    const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)
    expect(await scheme()).toBe('dark')
    const html = await (await page.request.get('/')).text()
    expect(html).toContain('data-theme="dark"')
    await page.reload()
    expect(await scheme()).toBe('dark')
    await page.getByLabel('System').check()
    await page.reload()
    expect(await scheme()).toBe('light dark')
    expect(problems).toEqual([])
    await close()
  })
})
