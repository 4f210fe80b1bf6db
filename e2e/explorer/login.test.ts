import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { dataOf } from '../../hack/testbed/explorer/pages.ts'
import { type Seen, Visitor } from '../../hack/testbed/explorer/visitor.ts'
import { SignInProvider } from '../../hack/testbed/oidc/sign-in.ts'
import type { Boot } from '../../pkg/explorer/explorer.ts'
import { type Deployment, deploy, startDeployment } from './deployment.fixture.ts'

/*
 * Signing in with a certified provider, over HTTP: what a browser sends and gets, without its script.
 */

/** Deployments that many tests share. Each test has its own visitors. */
let usual: Awaited<ReturnType<typeof startDeployment>>
let open: typeof usual
beforeAll(async () => {
  usual = await startDeployment()
  open = await startDeployment({ serverFlags: ['--anonymous-auth'] })
})
afterAll(async () => {
  await usual?.stop()
  await open?.stop()
})

const bootOf = ({ text }: Seen) => dataOf(text, 'boot') as Boot

/** The names that a page lists. */
const namesOf = ({ text }: Seen): string[] =>
  (dataOf(text, 'prime') as { items: { name: string }[] }).items.map(({ name }) => name)

async function loginsOf({ explorer }: Pick<Deployment, 'explorer'>): Promise<string[]> {
  const text = await (await fetch(`${explorer.adminUrl}/metrics`)).text()
  return text.split('\n').filter((line) => line.startsWith('depot_ui_logins_total{'))
}

describe('a person who signs in', () => {
  it('returns to the requested page, and sees what the groups allow', async () => {
    const { explorer, provider } = await deploy()
    const visitor = new Visitor()
    const seen = await visitor.signIn(`${explorer.baseUrl}/?q=e&page_size=50`)
    expect([seen.url, seen.status]).toEqual([`${explorer.baseUrl}/?q=e&page_size=50`, 200])
    expect(namesOf(seen)).toEqual(['network'])
    expect(bootOf(seen)).toMatchObject({
      oidc: true,
      signedIn: true,
      name: 'Alice',
      email: 'alice@example.com',
      issuer: provider.url,
      audience: ['depot-ui'],
    })
    const [asked = ''] = visitor.visited.filter((url) => url.startsWith(`${provider.url}/auth?`))
    const { searchParams } = new URL(asked)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: 'depot-ui',
      response_type: 'code',
      scope: 'openid profile email groups',
      redirect_uri: `${explorer.baseUrl}/auth/callback`,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{20,}$/),
      nonce: expect.stringMatching(/^[\w-]{20,}$/),
    })
    expect(await loginsOf({ explorer })).toEqual(['depot_ui_logins_total{result="success"} 1'])
  })

  it('writes no token into a page, an answer for scripts, or the log', async () => {
    const { explorer, server } = await deploy({
      flags: [
        '--log-level',
        'trace',
        '--oidc-scopes',
        'openid profile email groups offline_access',
      ],
    })
    const visitor = new Visitor()
    const page = await visitor.signIn(`${explorer.baseUrl}/stats`)
    const answers = [
      page,
      await visitor.script(`${explorer.baseUrl}/-/api/whoami`),
      await visitor.script(`${explorer.baseUrl}/auth/refresh`, { method: 'POST' }),
      await visitor.script(`${explorer.baseUrl}/auth/logout`, { method: 'POST' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const shown = answers.map(({ text, headers }) => text + JSON.stringify(headers)).join('\n')
    const jwt = /eyJ[\w-]{10,}\.[\w-]{10,}/
    expect(shown).not.toMatch(jwt)
    expect([...explorer.log, ...server.log].join('\n')).not.toMatch(jwt)
    expect(explorer.log.join('\n')).not.toMatch(/code=|state=|__Host|depot-session/)
  })

  it('may use another path, other scopes, or a public client', async () => {
    const { explorer } = await deploy({
      clientId: 'depot-ui-public',
      flags: ['--oidc-callback-path', '/sign-in/done', '--oidc-scopes', 'openid groups'],
    })
    const visitor = new Visitor()
    const seen = await visitor.signIn(`${explorer.baseUrl}/stats`)
    expect([seen.url, seen.status]).toEqual([`${explorer.baseUrl}/stats`, 200])
    expect(visitor.visited.some((url) => url.includes('/sign-in/done?code='))).toBe(true)
    expect(visitor.visited.some((url) => url.includes('scope=openid+groups&'))).toBe(true)
  })

  it('signs in in two tabs at once', async () => {
    const { explorer } = usual
    const visitor = new Visitor()
    const one = await visitor.ask(`${explorer.baseUrl}/auth/login?returnTo=/stats`)
    const two = await visitor.ask(`${explorer.baseUrl}/auth/login?returnTo=/depots`)
    const [first, second] = [one, two].map(({ headers }) => String(headers['location']))
    expect((await visitor.signIn(second ?? '')).url).toBe(`${explorer.baseUrl}/depots`)
    expect((await visitor.signIn(first ?? '')).url).toBe(`${explorer.baseUrl}/stats`)
  })

  it('never has more than five unfinished sign-ins', async () => {
    const { explorer } = usual
    const visitor = new Visitor()
    for (let n = 0; n < 9; n++) await visitor.ask(`${explorer.baseUrl}/auth/login`)
    const names = [...visitor.cookies(explorer.baseUrl).keys()]
    expect(names.filter((name) => name.startsWith('depot-login-'))).toHaveLength(5)
  })

  it.each([
    ['many-300', 'with 300 groups fits into one cookie', 1],
    ['noise-100', 'with more takes two', 2],
  ])('%s %s', async (login, _what, cookies) => {
    const { explorer } = open
    const visitor = new Visitor()
    await visitor.signIn(`${explorer.baseUrl}/auth/login`, login)
    const jar = [...visitor.cookies(explorer.baseUrl)]
    const session = jar.filter(([name]) => name.startsWith('depot-session'))
    expect(session).toHaveLength(cookies)
    for (const [name, value] of session) expect(name.length + value.length).toBeLessThan(4_000)
    const answer = await visitor.script(`${explorer.baseUrl}/-/api/whoami`)
    expect([answer.status, JSON.parse(answer.text).subject]).toEqual([200, login])
  })

  it('with too many groups reads how many, and is not signed in', async () => {
    const { explorer } = open
    const visitor = new Visitor()
    const seen = await visitor.signIn(`${explorer.baseUrl}/auth/login`, 'noise-900')
    expect(seen.url).toBe(`${explorer.baseUrl}/auth/error?reason=TooManyGroups&count=900`)
    expect(seen.text).toContain('Your identity carries too many groups')
    expect(seen.text).toContain('900 groups')
    expect([...visitor.cookies(explorer.baseUrl).keys()]).toEqual([])
  })

  it('without a claim of groups reads from the registry why nothing is shown', async () => {
    const { explorer } = usual
    const seen = await new Visitor().signIn(`${explorer.baseUrl}/stats`, 'lonely')
    expect([seen.url, seen.status]).toEqual([`${explorer.baseUrl}/stats`, 403])
    expect(JSON.stringify(dataOf(seen.text, 'prime'))).toContain('groups')
  })
})

it('a registry that refuses the token is not asked in a loop', async () => {
  const { explorer, provider } = await deploy({ accepted: 'somebody-else' })
  const visitor = new Visitor()
  const seen = await visitor.signIn(`${explorer.baseUrl}/stats`)
  expect([seen.url, seen.status]).toEqual([`${explorer.baseUrl}/stats`, 200])
  expect(/data-status="(\d+)"/.exec(seen.text)?.[1]).toBe('401')
  expect(bootOf(seen)).toMatchObject({ issuer: provider.url, audience: ['depot-ui'] })
  expect(Date.now() - (bootOf(seen).signedInAt ?? 0)).toBeLessThan(60_000)
})

describe('a sign-in refuses', () => {
  it('a used code', async () => {
    const { explorer } = usual
    const visitor = new Visitor()
    await visitor.signIn(`${explorer.baseUrl}/auth/login`)
    const used = visitor.visited.find((url) => url.includes('/auth/callback?')) ?? ''
    const again = await visitor.open(used)
    expect(again.url).toBe(`${explorer.baseUrl}/auth/error?reason=NoSignInAttempt`)
    expect(again.text).toContain('Sign in again')
  })

  it('a callback in another browser', async () => {
    const { explorer } = usual
    const attacker = new Visitor()
    const login = await attacker.ask(`${explorer.baseUrl}/auth/login`)
    const jar = attacker.cookies(explorer.baseUrl)
    const kept = [...jar]
    jar.clear()
    await attacker.signIn(String(login.headers['location']))
    const callback = attacker.visited.find((url) => url.includes('/auth/callback?')) ?? ''
    expect(callback).not.toBe('')
    const victim = new Visitor()
    const seen = await victim.open(callback)
    expect(seen.url).toBe(`${explorer.baseUrl}/auth/error?reason=NoSignInAttempt`)
    expect(kept).toHaveLength(1)
    expect([...victim.cookies(explorer.baseUrl).keys()]).toEqual([])
  })

  it.each([
    [
      'a wrong state',
      (url: URL) => url.searchParams.set('state', 'x'.repeat(43)),
      'NoSignInAttempt',
    ],
    ['no state', (url: URL) => url.searchParams.delete('state'), 'NoSignInAttempt'],
    ['two states', (url: URL) => url.searchParams.append('state', 'other'), 'SignInRefused'],
    ['a wrong code', (url: URL) => url.searchParams.set('code', 'wrong'), 'SignInRefused'],
    [
      'another issuer',
      (url: URL) => url.searchParams.set('iss', 'https://evil.example'),
      'SignInRefused',
    ],
    ['no issuer', (url: URL) => url.searchParams.delete('iss'), 'SignInRefused'],
  ])('%s', async (_what, change, reason) => {
    const { explorer } = usual
    const visitor = new Visitor()
    const login = await visitor.ask(`${explorer.baseUrl}/auth/login`)
    const jar = visitor.cookies(explorer.baseUrl)
    const kept = [...jar]
    jar.clear()
    await visitor.signIn(String(login.headers['location']))
    for (const [name, value] of kept) jar.set(name, value)
    const callback = visitor.visited.find((url) => url.includes('/auth/callback?')) ?? ''
    const url = new URL(callback)
    change(url)
    const seen = await visitor.open(url.href)
    expect(seen.url).toBe(`${explorer.baseUrl}/auth/error?reason=${reason}`)
    expect([...jar.keys()].filter((name) => name.startsWith('depot-session'))).toEqual([])
  })

  it('a message of an attacker on our page', async () => {
    const { explorer } = usual
    const visitor = new Visitor()
    const login = await visitor.ask(`${explorer.baseUrl}/auth/login`)
    const state = new URL(String(login.headers['location'])).searchParams.get('state') ?? ''
    const denied = await visitor.open(
      `${explorer.baseUrl}/auth/callback?error=access_denied&error_description=Call+0800+EVIL&state=${state}&iss=x`,
    )
    expect(denied.url).toMatch(/reason=(SignInDenied|SignInRefused)$/)
    expect(denied.text).not.toContain('EVIL')
    const made = await visitor.open(
      `${explorer.baseUrl}/auth/error?reason=<script>&count=<script>&message=EVIL`,
    )
    expect(made.text).not.toMatch(/EVIL|<script/)
  })
})

describe('signing out', () => {
  it('ends the session here and at the provider, and no other site can cause it', async () => {
    const { explorer, provider } = usual
    const visitor = new Visitor()
    await visitor.signIn(`${explorer.baseUrl}/stats`)
    const url = `${explorer.baseUrl}/auth/logout`
    expect((await visitor.ask(url)).status).toBe(405)
    for (const site of ['cross-site', 'same-site', 'none']) {
      const headers = { 'sec-fetch-site': site }
      expect((await visitor.script(url, { method: 'POST', headers })).status).toBe(403)
    }
    expect(visitor.cookies(explorer.baseUrl).has('depot-session')).toBe(true)

    const out = await visitor.script(url, { method: 'POST' })
    expect(out.headers['clear-site-data']).toBe('"cache", "storage"')
    // The marker of the sign-out is left.
    expect([...visitor.cookies(explorer.baseUrl).keys()].toSorted()).toEqual([
      'depot-logout',
      'depot-signed-out',
    ])
    const { location } = JSON.parse(out.text) as { location: string }
    const end = await visitor.ask(new URL(location, explorer.baseUrl).href)
    const target = new URL(String(end.headers['location']))
    expect(target.origin).toBe(provider.url)
    expect(target.searchParams.get('post_logout_redirect_uri')).toBe(
      `${explorer.baseUrl}/auth/signed-out`,
    )
    expect(target.searchParams.get('id_token_hint')).toMatch(/^eyJ/)
    expect((await visitor.ask(new URL(location, explorer.baseUrl).href)).headers['location']).toBe(
      '/auth/signed-out',
    )
  })
})

describe('a session that expires', () => {
  it('is refreshed once for concurrent requests, and continues', async () => {
    const { explorer } = await deploy({
      idTokenSeconds: 120,
      flags: ['--oidc-scopes', 'openid profile email groups offline_access'],
    })
    const visitor = new Visitor()
    const page = await visitor.signIn(`${explorer.baseUrl}/stats`)
    expect(bootOf(page)).toMatchObject({ signedIn: true, refreshInMs: expect.any(Number) })
    const before = bootOf(page).expiresAt ?? 0
    await expect.poll(() => Date.now()).toBeGreaterThan(before - 119_000)
    const url = `${explorer.baseUrl}/auth/refresh`
    const old = visitor.cookies(explorer.baseUrl).get('depot-session') ?? ''
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        new Visitor().script(url, { method: 'POST', headers: { cookie: `depot-session=${old}` } }),
      ),
    )
    const ends = answers.map(({ text }) => (JSON.parse(text) as Boot).expiresAt ?? 0)
    expect(new Set(ends).size).toBe(1)
    expect(ends[0]).toBeGreaterThan(before)
  })

  it('without a refresh token lasts as long as its token', async () => {
    const { explorer } = await deploy({ idTokenSeconds: 600 })
    const visitor = new Visitor()
    const page = bootOf(await visitor.signIn(`${explorer.baseUrl}/stats`))
    expect(page).toMatchObject({ signedIn: true, endsAt: page.expiresAt })
    expect(page).not.toHaveProperty('refreshInMs')
    expect((page.expiresAt ?? 0) - Date.now()).toBeLessThanOrEqual(600_000)
    const asked = await visitor.script(`${explorer.baseUrl}/auth/refresh`, { method: 'POST' })
    expect(JSON.parse(asked.text)).toMatchObject({ signedIn: true, expiresAt: page.expiresAt })
  })
})

it('a pasted token replaces the sign-in until it is cleared', async () => {
  const { explorer } = await deploy({
    serverFlags: ['--anonymous-auth'],
    flags: ['--dev-token-input'],
  })
  const alice = new Visitor()
  await alice.signIn(`${explorer.baseUrl}/auth/login`)
  await alice.script(`${explorer.baseUrl}/auth/logout`, { method: 'POST' })
  const end = await alice.ask(`${explorer.baseUrl}/auth/logout/issuer`)
  const location = new URL(String(end.headers['location']))
  const token = location.searchParams.get('id_token_hint') ?? ''

  const guest = new Visitor()
  const url = `${explorer.baseUrl}/auth/dev-token`
  expect(namesOf(await guest.open(explorer.baseUrl))).toEqual([])
  await guest.script(url, { method: 'POST', body: JSON.stringify({ token }) })
  const widened = await guest.open(explorer.baseUrl)
  expect(namesOf(widened)).toEqual(['network'])
  expect(bootOf(widened).devTokenInUse).toBe(true)
  expect(widened.text).not.toContain(token)
  await guest.script(url, { method: 'DELETE' })
  expect(namesOf(await guest.open(explorer.baseUrl))).toEqual([])
})

it('two explorers behind one address share sessions', async () => {
  const { explorer, another } = usual
  const visitor = new Visitor()
  await visitor.signIn(`${explorer.baseUrl}/stats`)
  const other = await another()
  const cookie = Array.from(visitor.cookies(explorer.baseUrl), (pair) => pair.join('=')).join('; ')
  const seen = await new Visitor().script(`${other.url}/-/api/resources`, { headers: { cookie } })
  expect([seen.status, seen.text.includes('"network"')]).toEqual([200, true])
})

it('a changed session password ends sessions of the old one, and a list of both keeps them', async () => {
  const { explorer, another } = usual
  const visitor = new Visitor()
  await visitor.signIn(`${explorer.baseUrl}/stats`)
  const cookie = Array.from(visitor.cookies(explorer.baseUrl), (pair) => pair.join('=')).join('; ')
  const fresh = 'another password of 32 letters or more'
  const statusAt = async (passwords: string) => {
    const other = await another({ environment: { DEPOT_SESSION_PASSWORD: passwords } })
    const headers = { cookie }
    return (await new Visitor().script(`${other.url}/-/api/resources`, { headers })).status
  }
  expect(await statusAt(fresh)).toBe(401)
  expect(await statusAt(`${fresh}\na password of more than 32 letters\n`)).toBe(200)
})

it('an ingress that sends /depot past the explorer does not prevent the pages from using the session', async () => {
  const { explorer, ingress } = await deploy({ isSplit: true })
  const visitor = new Visitor()
  const seen = await visitor.signIn(`${explorer.baseUrl}/`)
  expect(namesOf(seen)).toEqual(['network'])
  const own = await visitor.script(`${explorer.baseUrl}/-/api/resources`)
  expect([own.status, own.text]).toEqual([200, expect.stringContaining('"network"')])
  const past = await visitor.script(`${explorer.baseUrl}/depot/ui/v1/resources`)
  expect(past.status).toBe(401)
  const discovery = await visitor.ask(`${explorer.baseUrl}/.well-known/terraform.json`)
  expect(Object.keys(JSON.parse(discovery.text) as object)).toContain('login.v1')
  expect(ingress?.toServer).toEqual(['/depot/ui/v1/resources', '/.well-known/terraform.json'])
})

it('works through the broker behind the same address, without leaving the cluster', async () => {
  const { explorer, provider } = await deploy({ isBroker: true })
  const visitor = new Visitor()
  const seen = await visitor.signIn(`${explorer.baseUrl}/`)
  expect(seen.url).toBe(`${explorer.baseUrl}/`)
  expect(namesOf(seen)).toEqual(['network'])
  expect(visitor.visited.every((url) => !url.startsWith(provider.url))).toBe(true)
})

it('an unreachable issuer does not affect public pages, and logins work again when it returns', async () => {
  const { explorer, provider, another } = await deploy({ serverFlags: ['--anonymous-auth'] })
  expect(explorer.url).not.toBe('')
  const port = Number(new URL(provider.url).port)
  await provider.stop()
  const alone = await another()
  const visitor = new Visitor()
  expect((await visitor.open(`${alone.url}/stats`)).status).toBe(200)
  const failed = await visitor.ask(`${alone.url}/auth/login`)
  expect(failed.headers['location']).toBe('/auth/error?reason=IssuerUnavailable')
  const back = await SignInProvider.start({
    port,
    callbacks: [`${explorer.baseUrl}/auth/callback`],
  })
  onTestFinished(() => back.stop())
  await expect
    .poll(async () => (await visitor.ask(`${alone.url}/auth/login`)).headers['location'])
    .toMatch(new RegExp(`^${back.url}/auth`))
})
