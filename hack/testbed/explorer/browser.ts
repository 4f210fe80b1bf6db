import { existsSync } from 'node:fs'
import { type APIResponse, type Browser, chromium, type Page } from 'playwright-core'
import { dataOf } from './pages.ts'

/** The first is Chromium without windows, which takes two thirds of the processor time of the whole browser for a page. */
const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/**
 * Chromium reads only the last such switch, so this repeats the features that Playwright disables.
 * The last two draw lists below the address bar, as pages, for every new context: three quarters of its processor time.
 */
const withoutFeatures = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
]
const quiet = [
  `--disable-features=${withoutFeatures.join(',')}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Chromium of this machine: `CHROMIUM_PATH`, or the path of the system's package. Undefined if there is none. */
export const chromiumPath: string | undefined =
  process.env['CHROMIUM_PATH'] ?? places.find((path) => existsSync(path))

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath ?? '', args: quiet })

/**
 * Gives a module a README, in the answer that the explorer sends along with its page: READMEs come from a cluster, and a
 * folder of manifests has none.
 */
export async function withReadme(page: Page, path: string, markdown: string): Promise<void> {
  await page.route(
    (url) => url.pathname === path,
    async (route) => {
      let response: APIResponse
      let html: string
      // The explorer sends pages without an answer that takes longer than 300 ms.
      do {
        response = await route.fetch()
        html = await response.text()
      } while (dataOf(html, 'prime') === undefined)
      await route.fulfill({
        response,
        body: html.replace(
          /(<script type="application\/json" id="prime"[^>]*>)([^<]*)/,
          (_all, start: string, json: string) => {
            const detail = { ...(JSON.parse(json) as object), readmeContent: markdown }
            return start + JSON.stringify(detail).replaceAll('<', '\\u003c')
          },
        ),
      })
    },
  )
}
