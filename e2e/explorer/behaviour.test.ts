import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startExplorer } from '../../hack/testbed/explorer/explorer.ts'
import { chromiumPath, problemsInEveryLook, settled, watch, withReadme } from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

/* Checks the rows of the table of behaviour that need no login, in a real browser. */

let showcase: Showcase

beforeAll(async () => {
  if (chromiumPath !== undefined) showcase = await startShowcase()
})
afterAll(() => showcase?.stop())

const host = (): string => new URL(showcase.explorer.url).host
const codeBlock = (page: Page, what = 'usage block'): Locator =>
  page.locator('.code', { has: page.getByRole('button', { name: `Copy ${what}` }) })
const usageOf = (page: Page): Promise<string> => codeBlock(page).locator('pre').innerText()

describe.skipIf(chromiumPath === undefined)('the explorer', () => {
  it('4. takes the host of its snippets from NEXT_PUBLIC_BASE_URL, without a build', async () => {
    for (const baseUrl of ['http://one.example:8443', 'http://two.example']) {
      const explorer = await startExplorer({
        serverUrl: showcase.server.url,
        environment: { NEXT_PUBLIC_BASE_URL: baseUrl },
      })
      const { page, close } = await watch(showcase.browser, explorer.url)
      await page.goto('/network/module/vpc')
      expect(await usageOf(page)).toContain(`"${new URL(baseUrl).host}/network/vpc/aws"`)
      await close()
      await explorer.stop()
    }
  })

  it('5. writes the usage block of a provider', async () => {
    const { page, problems, close } = await showcase.open('/hashicorp/provider/aws')
    expect(await usageOf(page)).toBe(`terraform {
  required_providers {
    aws = {
      source  = "${host()}/hashicorp/aws"
      version = "6.4.0"
    }
  }
}`)
    expect(await codeBlock(page, 'terraform providers lock command').innerText()).toContain(
      '-platform=windows_amd64',
    )
    expect(problems).toEqual([])
    await close()
  })

  it('6. writes the usage block of a module, and no version before it is synced', async () => {
    const { page, problems, close } = await showcase.open('/network/module/vpc')
    expect(await usageOf(page)).toBe(`module "vpc" {
  source  = "${host()}/network/vpc/aws"
  version = "6.41.0"
}`)
    await page.goto('/payments/module/pci-vault?version=4.4.1')
    expect(await usageOf(page)).toBe(
      `module "pci-vault" {
  source = "${host()}/payments/pci-vault/google"
}`.replace('source =', 'source  ='),
    )
    await page.getByRole('tab', { name: 'terragrunt' }).click()
    await page.goto('/network/module/vpc')
    expect(await usageOf(page)).toBe(`terraform {
  source = "tfr://${host()}/network/vpc/aws?version=6.41.0"
}`)
    expect(problems).toEqual([])
    await close()
  })

  it('7. copies exactly that text, and says so', async () => {
    const { page, problems, close } = await showcase.open('/network/module/vpc')
    const expected = await usageOf(page)
    await codeBlock(page).getByRole('button').click()
    await expect.poll(() => page.locator('#announcements').innerText()).toBe('Copied')
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    expect(await copied()).toBe(expected)
    await page.evaluate(() => navigator.clipboard.writeText(''))
    await page.locator('.aside .btn.main').click()
    await expect.poll(copied).toBe(expected)
    await page.getByRole('link', { name: /^Versions/ }).click()
    await page.getByRole('button', { name: 'Copy link to 6.40.1' }).click()
    await expect.poll(copied).toBe(`${showcase.explorer.url}/network/module/vpc?version=6.40.1`)
    await page.goto(await copied())
    expect(await usageOf(page)).toContain('version = "6.40.1"')
    expect(problems).toEqual([])
    await close()
  })

  it('8. shows the README above the overview, and runs nothing of it', async () => {
    const { page, problems, close } = await watch(showcase.browser, showcase.explorer.url)
    await withReadme(page, '/network/module/vpc', readme)
    await page.goto('/network/module/vpc')
    const prose = page.locator('.prose')
    await prose.locator('table').waitFor()
    expect(await page.locator('main h2').allInnerTexts()).toEqual(
      expect.arrayContaining(['README', 'Overview']),
    )
    const [readmeTop, overviewTop] = await Promise.all(
      ['#readme', '#overview'].map(async (id) => (await page.locator(id).boundingBox())?.y ?? 0),
    )
    expect(readmeTop).toBeLessThan(overviewTop ?? 0)
    expect(await prose.locator('input[type=checkbox]').count()).toBe(2)
    expect(await prose.locator('del').innerText()).toBe('gone')
    expect(await prose.innerText()).toContain('R&D © &unknown;')
    expect(await prose.locator('script, img, iframe, [onerror], [style]').count()).toBe(0)
    expect(await prose.getByText('bad link').locator('xpath=ancestor-or-self::a').count()).toBe(0)
    expect(await page.evaluate('globalThis.ran')).toBeUndefined()
    await page.goto('/network/module/vpc-endpoints')
    await page.locator('#overview').waitFor()
    expect(await page.locator('#readme').count()).toBe(0)
    await page.goto('/hashicorp/provider/aws')
    await page.locator('#overview').waitFor()
    expect(await page.locator('#readme').count()).toBe(0)
    expect(problems).toEqual([])
    await close()
  })

  it('9. warns of versions out of sync, on cards and in the header, by hover, focus and tap', async () => {
    const { page, problems, close } = await showcase.open('/?view=cards&q=eks-cluster')
    const card = page.locator('.card')
    const tip = card.getByRole('tooltip', { includeHidden: true })
    expect(await card.innerText()).toContain('Synced')
    expect(await tip.innerText()).toBe('')
    await card.locator('.amber').hover()
    await expect.poll(() => tip.innerText()).toBe('Some versions are out of sync')
    await page.keyboard.press('Escape')
    await expect.poll(() => tip.isVisible()).toBe(false)
    await page.mouse.move(0, 0)
    await card.locator('.amber').focus()
    await expect.poll(() => tip.isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    await expect.poll(() => tip.isVisible()).toBe(false)
    await page.goto('/platform/module/eks-cluster')
    await page.locator('.meta .amber').click()
    await page.locator('.meta').getByRole('tooltip').waitFor()
    const phone = await watch(
      showcase.browser,
      showcase.explorer.url,
      { width: 320 },
      { hasTouch: true, isMobile: true },
    )
    await phone.page.goto('/platform/module/eks-cluster')
    await phone.page.locator('.meta .amber').tap()
    await phone.page.locator('.meta').getByRole('tooltip').waitFor()
    await phone.close()
    await page.goto('/data/module/redis')
    await page.locator('.meta').waitFor()
    expect(await page.locator('.amber').count()).toBe(0)
    expect(problems).toEqual([])
    await close()
  })

  it('10. filters versions on the server, from page 1, and clears every filter', async () => {
    const { page, problems, asked, close } = await showcase.open(
      '/network/module/vpc?tab=versions&v_page=2',
    )
    const section = page.locator('section[aria-labelledby=versions]')
    const rows = section.locator('tbody tr:not(.below)')
    await expect.poll(() => rows.count()).toBe(20)
    expect(await section.getByLabel('Sync status').locator('option').allInnerTexts()).toEqual([
      'All',
      'Synced',
      'Failed',
    ])
    expect(await section.getByLabel('OS').count()).toBe(0)
    expect(
      await section.getByLabel('Rows per page of versions').locator('option').allInnerTexts(),
    ).toEqual(['10 rows', '20 rows', '50 rows', '100 rows'])
    await section.getByLabel('Search versions').fill('39')
    await expect.poll(() => asked.at(-1)).toContain('/versions?by=version&q=39')
    expect(page.url()).not.toContain('v_page')
    await section.getByLabel('Sync status').selectOption('Failed')
    await expect.poll(() => rows.count()).toBe(1)
    expect(await rows.innerText()).toContain('6.39.2')
    expect(await section.locator('.why.fail').innerText()).toMatch(/fail/i)
    await section.getByLabel('Search versions').fill('nothing')
    await section.getByText('Nothing matches these filters.').waitFor()
    await section.getByRole('button', { name: 'Clear' }).first().click()
    await expect.poll(() => rows.count()).toBe(20)
    expect(new URL(page.url()).search).toBe('?tab=versions')

    await page.goto('/hashicorp/provider/aws')
    const os = section.getByLabel('OS')
    await expect
      .poll(() => os.locator('option').allInnerTexts())
      .toEqual(['Any OS', 'darwin', 'linux', 'windows'])
    expect(await section.getByLabel('Arch').locator('option').allInnerTexts()).toEqual([
      'Any arch',
      'amd64',
      'arm64',
    ])
    await os.selectOption('windows')
    await expect.poll(() => rows.count()).toBe(5)
    expect(problems).toEqual([])
    await close()
  })

  it('10. counts versions of a provider everywhere, never their platforms', async () => {
    const { page, problems, close } = await showcase.open('/platform/provider/acme-cmdb')
    const section = page.locator('section[aria-labelledby=versions]')
    await section.getByText('1 to 5 of 5 versions').waitFor()
    expect(await section.locator('header, h2').first().innerText()).toMatch(/^Versions\s+5$/)
    const link = page.getByRole('link', { name: /^Versions/ })
    expect(await link.innerText()).toMatch(/^Versions\s+5$/)
    expect(problems).toEqual([])
    await close()
  })

  it('10. has a row for each version of a provider, with its platforms inside', async () => {
    const { page, problems, close } = await showcase.open('/platform/provider/acme-cmdb')
    const section = page.locator('section[aria-labelledby=versions]')
    const row = section.getByRole('row', { name: /6\.1\.3/ })
    expect(await row.innerText()).toMatch(/0 of 4,\s+4 failed/)
    const platforms = section.locator('.platforms')
    expect(await platforms.count()).toBe(0)
    await row.getByRole('button', { name: 'Platforms of 6.1.3' }).click()
    expect(await platforms.locator('li > code').allInnerTexts()).toEqual([
      'darwin/arm64',
      'linux/amd64',
      'linux/arm64',
      'windows/amd64',
    ])
    expect(await platforms.locator('.why.fail').count()).toBe(4)
    // A failed version has no size and no digest.
    expect(await platforms.innerText()).not.toContain('–')
    expect(await problemsInEveryLook(page)).toEqual([])
    await section.getByRole('button', { name: 'Open all' }).click()
    await expect.poll(() => platforms.count()).toBe(5)
    expect(problems).toEqual([])
    await close()
  })

  it('10. shows several namespaces as one choice, and adds the next one to them', async () => {
    const { page, problems, close } = await showcase.open('/?namespace=data&namespace=network')
    const field = page.getByLabel('Namespace', { exact: true })
    const chosen = () => field.locator('option:checked').innerText()
    await expect.poll(chosen).toBe('2 namespaces')
    await field.selectOption('platform')
    await page.waitForURL((url) => url.searchParams.getAll('namespace').length === 3)
    await expect.poll(chosen).toBe('3 namespaces')
    await field.selectOption('Any namespace')
    await page.waitForURL((url) => !url.searchParams.has('namespace'))
    expect(problems).toEqual([])
    await close()
  })

  it('10. links from a page that does not exist to the last one', async () => {
    const { page, close } = await showcase.open('/network/module/vpc?tab=versions&v_page=99999')
    await page.getByRole('link', { name: 'Go to the last page, 3' }).click()
    await page.getByText('41 to 42 of 42 versions').waitFor()
    expect(new URL(page.url()).search).toBe('?tab=versions&v_page=3')
    await page.goto('/?page=99999')
    await page.getByText('There is no page 99,999.').waitFor()
    await page.getByRole('link', { name: /Go to the last page/ }).click()
    await page
      .getByText(/ results$/)
      .first()
      .waitFor()
    await close()
  })

  it('shows the version of the URL everywhere, and says so first', async () => {
    const { page, problems, close } = await showcase.open(
      '/platform/provider/acme-cmdb?version=6.3.1',
    )
    const note = page.locator('.note.older')
    expect(await note.innerText()).toContain('You are looking at 6.3.1. Latest is 6.4.0.')
    const header = await page.locator('.meta').innerText()
    expect(header).toMatch(/Version\s+6\.3\.1/)
    expect(header).toMatch(/0 downloads of 6\.3\.1/)
    expect(await page.locator('.meta .sC').innerText()).toContain('C 1')
    expect(await page.locator('#tool-panel pre').first().innerText()).toContain('"6.3.1"')
    await page.getByRole('heading', { name: 'darwin/arm64, 21 findings' }).waitFor()
    await page.getByLabel('Version', { exact: true }).selectOption('6.1.3')
    await page.getByText('6.1.3 has not been scanned yet').waitFor()
    expect(await page.locator('.toc').innerText()).toMatch(/Findings(?!\s+\d)/)
    expect(await page.locator('.meta').innerText()).toContain('Not scanned')
    await note.getByRole('link', { name: 'Go to latest' }).click()
    await expect.poll(() => note.count()).toBe(0)
    expect(new URL(page.url()).search).toBe('')
    expect(problems).toEqual([])
    await close()
  })

  it('10. shows rows of a skeleton while versions load', async () => {
    const { page, close } = await watch(showcase.browser, showcase.explorer.url)
    const released = Promise.withResolvers<void>()
    await page.route('**/versions*', async (route) => {
      await released.promise
      await route.continue()
    })
    await page.goto('/network/module/vpc?tab=versions')
    const section = page.locator('section[aria-labelledby=versions]')
    await section.locator('[aria-busy=true] tbody tr .sk').first().waitFor()
    released.resolve()
    await section.getByText('6.41.0').first().waitFor()
    expect(await section.locator('.sk').count()).toBe(0)
    await close()
  })

  it('11. shows findings by version and platform, and keeps them when a refresh fails', async () => {
    const { page, problems, asked, close } = await watch(showcase.browser, showcase.explorer.url, {
      expected: [500],
    })
    await page.goto('/platform/provider/acme-cmdb')
    const section = page.locator('section[aria-labelledby=findings]')
    const platforms = section.getByRole('table', { name: 'Findings by platform' })
    await platforms.waitFor()
    expect(await platforms.getByRole('rowheader').allInnerTexts()).toEqual([
      'darwin/arm64',
      'linux/amd64',
      'linux/arm64',
      'windows/amd64',
    ])
    await section.getByText(/^Scanned .+ by trivy 0\.70\.0, database of /).waitFor()
    await platforms.getByRole('link', { name: 'windows/amd64' }).click()
    await section.getByRole('heading', { name: 'windows/amd64, 16 findings' }).waitFor()
    const versions = section.getByLabel('Scanned version')
    expect(await versions.locator('option').allInnerTexts()).toEqual([
      '6.4.0, latest',
      '6.3.1',
      '6.2.2',
    ])
    await versions.selectOption('6.3.1')
    await expect
      .poll(() => asked.at(-1))
      .toContain('scan-findings?version=6.3.1&binaryVersion=6.3.1')
    await section.getByRole('heading', { name: 'windows/amd64, 21 findings' }).waitFor()
    const scans = () => asked.filter((url) => url.includes('scan-findings')).length
    const before = scans()
    await page.route('**/scan-findings*', (route) =>
      route.fulfill({ status: 500, json: { errors: ['the disk is full'] } }),
    )
    await section.getByRole('button', { name: 'Refresh findings' }).click()
    await section.getByText(/Showing data from \d\d:\d\d\. Refreshing failed\./).waitFor()
    expect(scans() - before).toBe(1)
    expect(await platforms.isVisible()).toBe(true)
    await page.unroute('**/scan-findings*')
    await section.getByRole('button', { name: 'Retry' }).click()
    await expect.poll(() => section.getByText('Refreshing failed.').count()).toBe(0)

    await page.goto(
      '/platform/module/observability-collector-daemonset-with-tail-sampling-and-egress?tab=findings',
    )
    await section.getByText(/^Scanned .+ by trivy 0\.70\.0, embedded checks$/).waitFor()
    await section.getByRole('table', { name: 'Findings' }).waitFor()
    expect(await section.getByLabel('Scanned version').count()).toBe(0)
    expect(problems).toEqual([])
    await close()
  })

  it('11. filters findings by text, and by whether there is a fix', async () => {
    const path = '/platform/provider/acme-cmdb?f_platform=linux/amd64'
    const { page, problems, close } = await showcase.open(path)
    const section = page.locator('section[aria-labelledby=findings]')
    const count = section.locator('.foot [role=status]')
    await section.getByRole('heading', { name: 'linux/amd64, 16 findings' }).waitFor()
    await section.getByLabel('Search findings').fill('Golang-JWT')
    const words = async (): Promise<string> => (await count.allInnerTexts()).join()
    await expect.poll(words).toBe('4 of 4 that match, 16 findings in all')
    const rows = section.getByRole('table', { name: /Findings of/ }).locator('tbody tr')
    for (const row of await rows.all()) {
      expect(await row.innerText()).toContain('github.com/golang-jwt/jwt/v4')
    }
    await section.getByLabel('Fix available').check()
    await expect.poll(words).toBe('3 of 3 that match, 16 findings in all')
    for (const row of await rows.all()) expect(await row.innerText()).toContain('0.35.0')
    expect(await section.getByText('No fix yet').count()).toBe(0)
    // The view is a link.
    expect(new URL(page.url()).search).toContain('f_q=Golang-JWT&f_fix=true')
    await page.reload()
    await expect.poll(words).toBe('3 of 3 that match, 16 findings in all')
    await section.getByLabel('Search findings').fill('nothing has this')
    await section.getByText('Nothing matches these filters.').waitFor()
    await section.getByRole('button', { name: 'Clear' }).click()
    await expect.poll(words).toBe('16 of 16 findings')
    expect(await section.getByLabel('Fix available').isChecked()).toBe(false)
    expect(problems).toEqual([])
    await close()
  })

  it('11. names the upgrades that fix findings', async () => {
    const path = '/platform/provider/acme-cmdb?f_platform=linux/amd64'
    const { page, problems, close } = await showcase.open(path)
    const section = page.locator('section[aria-labelledby=findings]')
    await section.getByText(/^\d+ upgrades can close \d+ of 16 findings$/).click()
    const rows = section.getByRole('table', { name: 'Upgrades' }).locator('tbody tr')
    await rows.first().waitFor()
    expect(await rows.filter({ hasText: 'golang-jwt' }).innerText()).toMatch(/0\.35\.0\s+3 of 4$/)
    expect(problems).toEqual([])
    await close()
  })

  it('12. counts the findings of the latest version on a card', async () => {
    const { page, close } = await showcase.open('/?q=vpc&view=cards')
    const card = page.locator('.card', {
      has: page.getByRole('link', { name: 'vpc', exact: true }),
    })
    const words = await card.locator('.sev').innerText()
    expect(words.replaceAll(/\s+/g, ' ')).toContain('2 high findings')
    expect(words).not.toContain('critical')
    await close()
  })

  it('13. draws depots, resources and lines from one answer, and a click shows details', async () => {
    const { page, problems, close } = await watch(showcase.browser, showcase.explorer.url)
    const graphRequests: string[] = []
    page.on('request', (request) => {
      if (/depots|resources/.test(new URL(request.url()).pathname))
        graphRequests.push(request.url())
    })
    const load = async (): Promise<readonly string[]> => {
      graphRequests.length = 0
      await page.goto('/depots')
      await expect.poll(() => page.locator('.box').count()).toBe(21)
      return [...graphRequests]
    }
    // The page itself contains the answer of the graph, unless the server takes longer than 300 ms for it.
    await expect.poll(load).toEqual([`${showcase.explorer.url}/depots`])
    // Names of namespaces come in a separate answer.
    await expect
      .poll(() => page.getByLabel('Namespace').locator('option').allInnerTexts())
      .toEqual([
        'All namespaces',
        'data',
        'hashicorp',
        'network',
        'payments',
        'platform',
        'security',
      ])
    // A line for each module and provider that a depot manages.
    await expect.poll(() => page.locator('.lines path').count()).toBe(19)
    await page.locator('.box', { hasText: 'network/core-modules' }).click()
    await page.waitForURL('**/depots?node=network%2Fcore-modules')
    await expect.poll(() => page.locator('.lines path.on').count()).toBe(6)
    const panel = page.locator('.panel')
    await panel.waitFor()
    expect(await panel.locator('dl').innerText()).toMatch(
      /Storage\s+s3\s+Polls every\s+15 minutes\s+Manages\s+5 modules, 1 provider/,
    )
    await page.locator('.box', { hasText: 'payments/pci-vault' }).click()
    await panel.getByText('Latest version').waitFor()
    expect(await panel.locator('dl').innerText()).toMatch(/4\.5\.0\s+Status\s+Not synced/)
    expect(await panel.locator('.sev').innerText()).toContain('2 critical findings')
    await panel.getByRole('link', { name: 'Open module' }).click()
    await page.waitForURL('**/payments/module/pci-vault')
    await page.goto('/depots?node=hashicorp/provider/google')
    expect(await panel.locator('dl').innerText()).toMatch(/Not synced\s+Namespace\s+hashicorp/)
    expect(problems).toEqual([])
    await close()
  })

  it('14. shows sums, sync health, severities, backends and the top 10', async () => {
    const { page, problems, close } = await showcase.open('/stats')
    await settled(page)
    const figures = await page.locator('.figures').innerText()
    for (const word of ['Modules', 'Providers', 'Versions', 'Storage', 'Downloads']) {
      expect(figures).toContain(word)
    }
    expect(await page.locator('section[aria-labelledby=sync] .legend a').count()).toBe(3)
    expect(
      (await page.locator('.posture a').allInnerTexts()).map((words) => words.split(/\s/)[0]),
    ).toEqual(['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'UNKNOWN'])
    expect(await page.locator('section[aria-labelledby=storage]').innerText()).toContain(
      'filesystem',
    )
    expect(await page.locator('section[aria-labelledby=top]').isVisible()).toBe(true)
    await page.locator('.posture a').first().click()
    await page.waitForURL('**/?severity=CRITICAL')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2)
    expect(problems).toEqual([])
    await close()
  })
})

const readme = `# Title

| a | b |
| - | - |
| 1 | 2 |

- [x] done
- [ ] open

~~gone~~ R&amp;D &copy; &unknown;

<script>globalThis.ran = 1</script>
<img src="x" onerror="globalThis.ran = 1">

[bad link](javascript:globalThis.ran=1) ![picture](https://pictures.example/x.png)
`
