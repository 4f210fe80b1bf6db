import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  chromiumPath,
  launchBrowser,
  problemsInEveryLook,
  settled,
  watch,
} from './browser.fixture.ts'
import { type Deployment, deploy } from './deployment.fixture.ts'
import { logIn } from './login-form.fixture.ts'

/* The messages and redirects for people whom the registry refuses, in a real browser with a real provider. */

let browser: Browser
beforeAll(async () => {
  if (chromiumPath !== undefined) browser = await launchBrowser()
})
afterAll(() => browser?.close())

/** Opens a path. The provider's own pages request a font from another host. */
async function opened({ explorer }: Deployment) {
  const watched = await watch(browser, explorer.baseUrl, { expected: [401, 403, 404] })
  await watched.page.route('https://fonts.googleapis.com/**', (route) =>
    route.fulfill({ body: '' }),
  )
  const own = (): string[] =>
    watched.problems.filter((problem) => !problem.includes('fonts.googleapis.com'))
  return { ...watched, own }
}

const main = (page: Page) => page.locator('main')

describe.skipIf(chromiumPath === undefined)('a person whom the registry refuses', () => {
  it('without a required group reads the message of the registry, their own name and a link', async () => {
    const deployment = await deploy({ isBuilt: true })
    const { page, own, close } = await opened(deployment)
    await page.goto('/stats')
    await logIn(page, 'lonely')
    await page.waitForURL('**/stats')
    await main(page)
      .getByText(/groups/)
      .first()
      .waitFor()
    await main(page).getByText('You may not see this.').waitFor()
    await main(page).getByText('You are signed in as lonely@example.com.').waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    await main(page).getByRole('link', { name: 'What may I see?' }).click()
    await page.waitForURL('**/access')
    await main(page).getByText('lonely@example.com').first().waitFor()
    expect(own()).toEqual([])
    await close()
  })

  it('right after a sign-in reads which token was refused, and is not redirected again', async () => {
    const deployment = await deploy({ isBuilt: true, accepted: 'another-client' })
    const { page, own, close } = await opened(deployment)
    const logins: string[] = []
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/auth/login') logins.push(request.url())
    })
    await page.goto('/stats')
    await logIn(page, 'alice')
    await page.waitForURL(`${deployment.explorer.baseUrl}/stats`)
    const alert = main(page).getByRole('alert')
    await alert
      .getByText('You are signed in, but the registry did not accept the token.')
      .first()
      .waitFor()
    const words = await alert.first().innerText()
    expect(words).toContain(`Issuer ${deployment.provider.url}, audience depot-ui.`)
    expect(words).toContain('--oidc-ui-client-id')
    for (const name of ['Depots', 'Registry']) {
      await page.getByRole('navigation', { name: 'Depot' }).getByRole('link', { name }).click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await alert.first().waitFor()
    }
    expect(logins).toHaveLength(1)
    // Last, because a minute after the sign-in another one is allowed.
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(own()).toEqual([])
    await close()
  })

  it('is not redirected to the provider in a loop if the clock of the browser is ahead', async () => {
    const deployment = await deploy({ isBuilt: true, accepted: 'another-client' })
    const { page, close } = await opened(deployment)
    let logins = 0
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/auth/login') logins += 1
    })
    await page.clock.setFixedTime(Date.now() + 3_600_000)
    await page.goto('/stats')
    await logIn(page, 'alice')
    await main(page)
      .getByText('You are signed in, but the registry did not accept the token.')
      .first()
      .waitFor()
    await settled(page)
    expect(logins).toBeLessThanOrEqual(2)
    await close()
  })

  it('on a page whose first answer came late is redirected to the provider by the page', async () => {
    const deployment = await deploy({ isBuilt: true })
    const { page, own, close } = await opened(deployment)
    const { baseUrl } = deployment.explorer
    // As the explorer sends it when the registry takes longer than 300 ms: status 200, and no answer in it.
    await page.route(
      `${baseUrl}/stats`,
      async (route) => {
        const response = await route.fetch({ url: `${baseUrl}/nothing` })
        const body = (await response.text()).replace('"not-found"', '"stats"')
        await route.fulfill({ status: 200, contentType: 'text/html', body })
      },
      { times: 1 },
    )
    await page.goto('/stats')
    await logIn(page, 'alice')
    await page.waitForURL(`${baseUrl}/stats`)
    await settled(page)
    expect(await page.locator('.figures').innerText()).toMatch(/Modules\s+1/)
    expect(own()).toEqual([])
    await close()
  })
})

it.skipIf(chromiumPath === undefined)(
  'a signed-in person reads their name and the rule that decides on the page Access',
  async () => {
    const deployment = await deploy({ isBuilt: true })
    const { page, own, close } = await opened(deployment)
    await page.goto('/stats')
    await logIn(page, 'alice')
    await page.waitForURL(`${deployment.explorer.baseUrl}/stats`)
    await page.goto('/access?resource=other/module/vpc')
    await settled(page)
    const you = await page.locator('section[aria-labelledby=me]').innerText()
    for (const words of ['alice@example.com', 'OIDC', deployment.provider.url, 'platform']) {
      expect(you).toContain(words)
    }
    expect(you).toMatch(/Session ends\s+in /)
    const rule = await page.locator('section[aria-labelledby=rule]').innerText()
    expect(rule).toMatch(/Group binding\s+platform/)
    expect(rule).toMatch(/Modules\s+network/)
    const one = page.locator('section[aria-labelledby=one]')
    expect(await one.innerText()).toContain('depot.internal/public=true')
    await one.getByRole('button', { name: 'Copy text for the platform team' }).click()
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toContain(
        'Please let me see other/module/vpc in Depot.\nI am signed in as alice@example.com.',
      )
    expect(own()).toEqual([])
    await close()
  },
)
