import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import axe, { type Result } from 'axe-core'
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core'
import { expect } from 'vitest'
import { chromiumPath } from '../../hack/testbed/explorer/browser.ts'

export { chromiumPath, launchBrowser, withReadme } from '../../hack/testbed/explorer/browser.ts'

if (chromiumPath === undefined) {
  if (!['', '0', 'false'].includes(process.env['CI'] ?? ''))
    throw new Error('the tests of the explorer need Chromium: install it, or set CHROMIUM_PATH')
  console.warn('e2e: the tests of the explorer are SKIPPED: Chromium is missing here')
}

export interface Watched {
  readonly page: Page
  /** Console errors, reports of the content security policy, uncaught errors, requests to other hosts. */
  readonly problems: readonly string[]
  /** Requested URLs below `/-/api`, in order. */
  readonly asked: readonly string[]
  readonly close: () => Promise<void>
}

export interface Look {
  readonly width?: number
  readonly height?: number
  readonly theme?: 'light' | 'dark'
  /** Status codes that a test causes. The browser reports each as a console error. */
  readonly expected?: readonly number[]
}

/**
 * Loads a page until the answer has that status. The explorer waits 300 ms for the server's first answer. On a busy machine,
 * the answer may be later, and then the page requests it.
 */
export async function load(page: Page, path: string, status: number): Promise<void> {
  await expect.poll(async () => (await page.goto(path))?.status()).toBe(status)
}

/** Loads a page without scripts until the server has rendered its list in time, because no script requests it later. */
export async function loadDrawn(page: Page, path: string): Promise<void> {
  await expect
    .poll(async () => {
      await page.goto(path)
      return page.locator('#prime').count()
    })
    .toBe(1)
}

/** A page that records everything that must never happen to a user. */
export async function watch(
  browser: Browser,
  origin: string,
  look: Look = {},
  more: BrowserContextOptions = {},
): Promise<Watched> {
  const { width = 1280, height = 900, theme = 'light', expected = [] } = look
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width, height },
    colorScheme: theme,
    permissions: ['clipboard-read', 'clipboard-write'],
    ...more,
  })
  const page = await context.newPage()
  if (more.javaScriptEnabled !== false) waitForApp(page)
  // Chromium does not report what a script caught itself.
  await page.addInitScript((own) => {
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
      if (location.origin === own)
        console.error(`Content Security Policy: ${effectiveDirective} blocked ${blockedURI}`)
    })
  }, origin)
  const problems: string[] = []
  const asked: string[] = []
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    const text = message.text()
    if (expected.some((status) => text.includes(`status of ${status}`))) return
    if (expected.includes(0) && text.includes('net::ERR_')) return
    problems.push(text)
  })
  page.on('pageerror', (error) => problems.push(`not caught: ${error.stack ?? error.message}`))
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin === origin && url.pathname.startsWith('/-/api/')) {
      asked.push(url.pathname + url.search)
    }
    if (leaves(request, url, new URL(origin))) problems.push(`a request to ${url.href}`)
  })
  return { page, problems, asked, close: () => context.close() }
}

/**
 * Whether a request is to another host, or from our own page to another port. Pages that a login opens may contact their host.
 */
function leaves(request: Request, url: URL, own: URL): boolean {
  if (url.protocol === 'data:' || url.host === own.host) return false
  if (url.hostname !== own.hostname) return true
  return !request.isNavigationRequest() && new URL(request.frame().url()).host === own.host
}

/** Chromium cuts all connections when an interface of this machine comes or goes, as those of a kind cluster do. */
async function throughChanges<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    if (!String(error).includes('ERR_NETWORK_CHANGED')) throw error
    return await request()
  }
}

/** Waits until the app has rendered a page. The server renders it earlier, but that page does not react yet. */
function waitForApp(page: Page): void {
  const drawn = (): Promise<unknown> =>
    page.waitForFunction(() => document.querySelector('.app[aria-busy]') === null)
  const [goto, reload] = [page.goto.bind(page), page.reload.bind(page)]
  page.goto = async (...args) => {
    const response = await throughChanges(() => goto(...args))
    await drawn()
    return response
  }
  page.reload = async (...args) => {
    const response = await throughChanges(() => reload(...args))
    await drawn()
    return response
  }
}

const rules = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']
/** The rules about colours, which are all that a theme changes. */
const colourRules = axe
  .getRules(['cat.color'])
  .filter(({ tags }) => tags.some((tag) => rules.includes(tag)))
  .map(({ ruleId }) => ruleId)

/** Half the size of the usual one, which each new page would have to read. */
const minified = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** The findings of axe-core, a line each. The script is evaluated, because the policy blocks a script element. */
async function accessibilityProblems(page: Page, runOnly: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(minified)
  // Most results are passes, and transferring them takes longer than the check. Nobody reads selectors, and no page has media.
  const unused = { selectors: false, preload: false }
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'], ...unused })
  const violations = await page.evaluate<Result[]>(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  )
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html} ${failureSummary ?? ''}`),
  )
}

/** Checks both themes at each width, on the current page. */
export async function problemsInEveryLook(
  page: Page,
  widths: readonly number[] = [320, 1280],
): Promise<string[]> {
  const before = page.viewportSize() ?? { width: 1280, height: 900 }
  const problems: string[] = []
  // Otherwise, the colours of the other theme still fade during the check.
  await page.emulateMedia({ reducedMotion: 'reduce' })
  for (const width of widths) {
    await page.setViewportSize({ ...before, width })
    // Elements notice with the next frame that they scroll, and take the focus once they are rendered again.
    await page.evaluate(async () => {
      for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame)
    })
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    if (over !== 0) problems.push(`${width} px: ${over} px wider than the window`)
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      const found = await accessibilityProblems(page, theme === 'light' ? rules : colourRules)
      problems.push(...found.map((problem) => `${theme}, ${width} px: ${problem}`))
    }
  }
  await page.setViewportSize(before)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: null })
  return problems
}

/** Waits until the page has its content, and nothing says that it is loading. */
export async function untilDrawn(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor()
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null)
}

/** Waits until the page is rendered, no request is running and nothing says that it is loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor()
  await page.waitForLoadState('networkidle')
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null)
}
