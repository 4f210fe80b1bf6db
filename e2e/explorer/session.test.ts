import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import type { Browser, Page, Response, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startExplorer } from '../../hack/testbed/explorer/explorer.ts'
import { dataOf } from '../../hack/testbed/explorer/pages.ts'
import { SignInProvider } from '../../hack/testbed/oidc/sign-in.ts'
import { freePort } from '../../hack/testbed/ports.ts'
import { depotArguments } from '../../hack/testbed/program/command.ts'
import { moduleObjects, Registry } from '../../hack/testbed/registry/registry.ts'
import { startAs } from '../../hack/testbed/server/server.ts'
import type { Boot } from '../../pkg/explorer/explorer.ts'
import {
  chromiumPath,
  launchBrowser,
  problemsInEveryLook,
  settled,
  watch,
} from './browser.fixture.ts'
import { binding, deploy, startDeployment } from './deployment.fixture.ts'
import { logIn } from './login-form.fixture.ts'

/* Rows 1 to 3 of the table of behaviour, in a real browser with a real provider. */

let browser: Browser
/** Deployments that several tests share, each with its own browser context. */
let usual: Awaited<ReturnType<typeof startDeployment>>
let offline: typeof usual

beforeAll(async () => {
  if (chromiumPath === undefined) return
  browser = await launchBrowser()
  usual = await startDeployment({ isBuilt: true })
  offline = await startDeployment({
    isBuilt: true,
    flags: ['--oidc-scopes', 'openid profile email groups offline_access'],
  })
})
afterAll(async () => {
  await browser?.close()
  await usual?.stop()
  await offline?.stop()
})

const watchAll = (origin: string, expected: readonly number[] = []) =>
  watch(browser, origin, { expected })

describe.skipIf(chromiumPath === undefined)('a session', () => {
  it('1. is an encrypted HttpOnly cookie, and needs a password of 32 characters', async () => {
    const { explorer } = usual
    const { page, close } = await watchAll(explorer.baseUrl)
    await page.goto('/')
    await logIn(page, 'alice')
    await page.waitForURL(`${explorer.baseUrl}/`)
    const cookies = await page.context().cookies(explorer.baseUrl)
    const session = cookies.filter(({ name }) => name.startsWith('depot-session'))
    expect(session.map(({ httpOnly, sameSite }) => [httpOnly, sameSite])).toEqual([[true, 'Lax']])
    expect(session[0]?.value).not.toMatch(/eyJ|alice|platform/)
    expect(await page.evaluate(() => document.cookie)).not.toContain('depot-session')
    await close()

    const short = spawnSync(process.execPath, depotArguments('ui', '--dev-token-input'), {
      env: { ...process.env, DEPOT_SESSION_PASSWORD: 'x'.repeat(31) },
      encoding: 'utf8',
    })
    expect(short.status).toBe(2)
    expect(short.stderr).toMatch(/session.password/i)
  })

  it('2. starts at the provider, and returns to the requested page', async () => {
    const { explorer, provider } = await deploy({
      isBuilt: true,
      flags: ['--oidc-callback-path', '/sign-in/done', '--oidc-scopes', 'openid email groups'],
    })
    // If the first answer is late, the page gets the 401. The provider's own pages request a font and an icon.
    const { page, problems, close } = await watchAll(explorer.baseUrl, [401, 404])
    await page.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ body: '' }))
    const asked: URL[] = []
    page.on('request', (request) => void asked.push(new URL(request.url())))
    await page.goto('/stats')
    await logIn(page, 'alice')
    await page.waitForURL(`${explorer.baseUrl}/stats`)
    await settled(page)
    const authorization = asked.find(
      ({ origin, pathname }) => origin === provider.url && pathname === '/auth',
    )
    expect(Object.fromEntries(authorization?.searchParams ?? [])).toMatchObject({
      scope: 'openid email groups',
      redirect_uri: `${explorer.baseUrl}/sign-in/done`,
      code_challenge_method: 'S256',
    })
    expect(asked.some(({ pathname }) => pathname === '/sign-in/done')).toBe(true)
    expect(await page.locator('.side .who').innerText()).toContain('alice@example.com')
    expect(await page.locator('.figures').innerText()).toMatch(/Modules\s+1/)
    // Signing out clears the cached pages.
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL((url) => url.origin === provider.url)
    await page.getByRole('button', { name: /yes, sign me out/i }).click()
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
    expect(problems.filter((problem) => !problem.includes('fonts.googleapis.com'))).toEqual([])
    await close()
  })

  it('ends in every tab, and begins again only by a click', async () => {
    const { explorer, provider } = await deploy({ isBuilt: true, endsSessions: false })
    const { page, close } = await watchAll(explorer.baseUrl, [401, 404])
    const context = page.context()
    await context.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ body: '' }))
    await page.goto('/')
    await logIn(page, 'alice')
    await page.waitForURL(`${explorer.baseUrl}/`)
    const other = await context.newPage()
    await other.goto(`${explorer.baseUrl}/stats`)
    await settled(other)
    await page.getByRole('button', { name: 'Sign out' }).click()
    for (const tab of [page, other]) {
      await tab.getByRole('heading', { name: 'You are signed out' }).waitFor()
      await tab.getByText(`You may still be signed in at ${new URL(provider.url).host}.`).waitFor()
      expect(tab.url()).toBe(`${explorer.baseUrl}/auth/signed-out`)
    }
    expect(await problemsInEveryLook(page)).toEqual([])
    const cookies = await context.cookies(explorer.baseUrl)
    expect(cookies.map(({ name }) => name).filter((name) => name.startsWith('depot-'))).toEqual([
      'depot-signed-out',
    ])
    // The issuer would sign alice in without asking.
    await page.getByRole('link', { name: 'Look at public modules' }).click()
    await page.getByText('This page needs a sign-in.').waitFor()
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'network' }).first().waitFor()
    await close()
  })

  it('shows nothing to someone without a binding, and says why', async () => {
    const { explorer } = usual
    const { page, problems, close } = await watchAll(explorer.baseUrl, [401, 403, 404])
    await page.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ body: '' }))
    await page.goto('/')
    await logIn(page, 'visitor')
    await page.waitForURL(`${explorer.baseUrl}/`)
    await settled(page)
    expect(await page.locator('.side .who').innerText()).toContain('visitor@example.com')
    expect(await page.getByRole('link', { name: 'network' }).count()).toBe(0)
    await page.goto('/default/module/network')
    await page.getByText('Not found, or not visible to you.').waitFor()
    await page.getByRole('link', { name: 'Why can I not see it?' }).click()
    await page.getByText('You see what is public: no GroupBinding matches these groups.').waitFor()
    await page.getByText('No group binding matches you.').waitFor()
    expect(problems.filter((problem) => !problem.includes('fonts.googleapis.com'))).toEqual([])
    await close()
  })

  it('redirects through the provider and back to the open view after it has ended', async () => {
    const { explorer } = usual
    const { page, close } = await watchAll(explorer.baseUrl, [401, 404])
    await page.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ body: '' }))
    await page.goto('/')
    await logIn(page, 'alice')
    await page.getByRole('link', { name: 'network' }).first().waitFor()
    await page.waitForFunction(() => document.querySelector('.app[aria-busy]') === null)
    await page.context().clearCookies({ name: /^depot-/ })
    // A 401 right after a sign-in does not start another one.
    await page.clock.setFixedTime(Date.now() + 120_000)
    await page.getByLabel('Kind').selectOption('Modules')
    // Alice is still signed in at the provider, so it asks nothing.
    const names = async (): Promise<string[]> =>
      (await page.context().cookies(explorer.baseUrl)).map(({ name }) => name)
    await expect.poll(names, { timeout: 30_000 }).toContain('depot-session')
    await page.waitForURL(`${explorer.baseUrl}/?kind=module`)
    await page.getByRole('link', { name: 'network' }).first().waitFor()
    await close()
  })

  it('is refreshed once for two tabs, after four fifths of the lifetime of its token', async () => {
    const { context, page, provider, answers, baseUrl, expiresAt } = await refreshable()
    const other = await context.newPage()
    await other.goto(`${baseUrl}/`)
    await settled(other)
    const before = provider.tokenRequests
    const waiting: Route[] = []
    await context.route('**/auth/refresh', (route) => void waiting.push(route))
    await page.clock.pauseAt(expiresAt - 725_000)
    expect(waiting).toHaveLength(0)
    await page.clock.fastForward(10_000)
    // One tab sends the request, the other one waits for it.
    const locks = () =>
      page.evaluate(async () => {
        const { held = [], pending = [] } = await navigator.locks.query()
        return [held.length, pending.length]
      })
    await expect.poll(locks).toEqual([1, 1])
    await expect.poll(() => waiting.length).toBe(1)
    await waiting[0]?.continue()
    await expect.poll(() => waiting.length).toBe(2)
    await waiting[1]?.continue()
    await expect.poll(() => answers.length).toBe(2)
    const ends = await Promise.all(answers.map(async (answer) => endOf(await answer.json())))
    expect(ends[0]).toBeGreaterThan(expiresAt)
    expect(ends[1]).toBe(ends[0])
    expect(provider.tokenRequests - before).toBe(1)
  })

  it('is refreshed when the provider returns, even if the browser has no locks', async () => {
    const { context, page, answers, expiresAt } = await refreshable('without locks')
    await context.route('**/auth/refresh', (route) => route.fulfill({ status: 503, json: {} }), {
      times: 1,
    })
    await page.clock.pauseAt(expiresAt - 725_000)
    await page.clock.fastForward(10_000)
    await expect.poll(() => answers.map((answer) => answer.status())).toEqual([503])
    await page.clock.resume()
    await expect.poll(() => answers.length, { timeout: 60_000 }).toBeGreaterThan(1)
    expect(endOf(await answers[1]?.json())).toBeGreaterThan(expiresAt)
  })

  it('3. accepts a developer token if that is enabled, and has no field for it otherwise', async () => {
    const port = await freePort()
    const baseUrl = `http://127.0.0.1:${port}`
    const callback = `${baseUrl}/callback`
    const provider = await SignInProvider.start({ callbacks: [callback] })
    onTestFinished(() => provider.stop())
    const registry = new Registry()
    onTestFinished(() => registry.remove())
    registry.write('network.yaml', [
      ...moduleObjects({ name: 'network', versions: [{ version: '1.0.0', fileName: 'a.zip' }] }),
      binding,
    ])
    const server = await startAs(
      registry,
      '--manifests',
      registry.manifests,
      '--anonymous-auth',
      '--oidc-issuer-url',
      provider.url,
      '--oidc-client-id',
      'depot-ui-public',
    )
    onTestFinished(() => void server.stop())
    const plain = await startExplorer({ serverUrl: server.url })
    onTestFinished(() => void plain.stop())
    const enabled = await startExplorer({
      serverUrl: server.url,
      port,
      flags: ['--dev-token-input'],
    })
    onTestFinished(() => void enabled.stop())

    const without = await watchAll(plain.url, [404])
    await without.page.goto('/')
    await settled(without.page)
    expect(await without.page.getByLabel('Bearer token').count()).toBe(0)
    const refused = await without.page.evaluate(
      async () => (await fetch('/auth/dev-token', { method: 'POST' })).status,
    )
    expect(refused).toBe(404)
    await without.close()

    const { page, problems, close } = await watchAll(enabled.url, [404])
    await page.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ body: '' }))
    const token = await idToken(page, provider.url, callback)
    await page.goto('/')
    await page.getByText('Nothing is visible to you yet.').waitFor()
    await page.getByLabel('Bearer token').fill(token)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'network' }).first().waitFor()
    await page.getByText('Developer token in use.').waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(await page.content()).not.toContain(token.slice(0, 20))
    await page.goto('/access?resource=other/module/vpc')
    await page.getByText('Ask for it').waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    await page.goto('/')
    await page.getByRole('button', { name: 'Clear token' }).click()
    await page.getByText('Nothing is visible to you yet.').waitFor()
    expect(problems.filter((problem) => !problem.includes('fonts.googleapis.com'))).toEqual([])
    await close()
  })
})

const endOf = (state: unknown): unknown => (state as { expiresAt?: unknown }).expiresAt

/** A page with a session that can be refreshed, in a browser whose clock the test sets, and the answers that it gets. */
async function refreshable(browsers: 'with locks' | 'without locks' = 'with locks') {
  const { explorer, provider } = offline
  const { page, close } = await watchAll(explorer.baseUrl, [401, 404, 503])
  onTestFinished(close)
  const context = page.context()
  await page.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ body: '' }))
  const answers: Response[] = []
  context.on('response', (response) => {
    if (new URL(response.url()).pathname === '/auth/refresh') answers.push(response)
  })
  if (browsers === 'without locks') {
    // As on http pages of other machines.
    await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'locks'))
  }
  await page.clock.install()
  await page.goto('/stats')
  await logIn(page, 'alice')
  await page.waitForURL(`${explorer.baseUrl}/stats`)
  await settled(page)
  const boot = dataOf(await page.content(), 'boot') as Boot
  // Four fifths of an hour, and the session lasts eight hours.
  expect((boot.refreshInMs ?? 0) / 60_000).toBeCloseTo(48, 0)
  expect(((boot.endsAt ?? 0) - Date.now()) / 3_600_000).toBeCloseTo(8, 1)
  const expiresAt = boot.expiresAt ?? 0
  // Times in tokens are whole seconds, so a token of the same second would not be newer.
  await expect.poll(() => Date.now(), { timeout: 10_000 }).toBeGreaterThan(expiresAt - 3_599_000)
  return { context, page, provider, answers, baseUrl: explorer.baseUrl, expiresAt }
}

/** Signs in at the provider like a command-line tool. */
async function idToken(page: Page, issuer: string, callback: string): Promise<string> {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: 'depot-ui-public',
    response_type: 'code',
    scope: 'openid email groups',
    redirect_uri: callback,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  await page.route(`${callback}*`, (route) => route.fulfill({ body: 'done' }))
  await page.goto(`${issuer}/auth?${query.toString()}`)
  await logIn(page, 'alice')
  await page.waitForURL(`${callback}*`)
  const answer = await fetch(`${issuer}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'depot-ui-public',
      code: new URL(page.url()).searchParams.get('code') ?? '',
      redirect_uri: callback,
      code_verifier: verifier,
    }),
  })
  return ((await answer.json()) as { id_token: string }).id_token
}
