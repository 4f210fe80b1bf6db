import { expect, it, onTestFinished } from 'vitest'
import { Cookies } from './cookies.ts'
import { listening, sessionPassword, startExplorer } from './explorer.fixture.ts'
import { Seal } from './seal.ts'
import { packToken, Sessions } from './session.ts'

/** An explorer whose issuer has a sign-out page and does not refresh sessions. */
async function withIssuer() {
  const asked: string[] = []
  const issuer = await listening((request, response) => {
    const url = `http://${request.headers.host}`
    asked.push(request.url ?? '')
    response.setHeader('Content-Type', 'application/json')
    if (request.url === '/token') {
      response.writeHead(400).end('{"error":"invalid_grant"}')
      return
    }
    response.end(
      JSON.stringify({
        issuer: url,
        authorization_endpoint: `${url}/auth`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/keys`,
        end_session_endpoint: `${url}/end`,
        response_types_supported: ['code'],
      }),
    )
  })
  onTestFinished(() => issuer.stop())
  const oidc = {
    issuerUrl: issuer.url,
    clientId: 'depot-ui',
    scopes: 'openid',
    callbackPath: '/auth/callback',
  }
  const explorer = await startExplorer(undefined, { oidc, baseUrl: 'http://a.example' })
  onTestFinished(() => explorer[Symbol.asyncDispose]())
  const seal = new Seal([sessionPassword])
  return {
    issuer,
    asked,
    explorer,
    signedOut: async (content: object) =>
      explorer.get('/auth/logout/issuer', {
        cookie: `depot-logout=${await seal.seal('logout', content, 60)}`,
      }),
  }
}

it('a sign-out redirects to the sign-out page of the issuer, with the ID token as hint', async () => {
  const { issuer, signedOut } = await withIssuer()
  const { status, headers } = await signedOut({ token: packToken('a.b.c') })
  const target = new URL(String(headers['location']))
  expect([status, target.origin + target.pathname]).toEqual([302, `${issuer.url}/end`])
  expect(Object.fromEntries(target.searchParams)).toMatchObject({
    id_token_hint: 'a.b.c',
    post_logout_redirect_uri: 'http://a.example/auth/signed-out',
  })
})

it.each([
  ['a token that was packed by another release', { token: 'eyJhbGciOiJub25lIn0.e30.' }],
  ['a token that was cut', { token: packToken('a.b.c').slice(0, 9) }],
  ['an empty token', { token: '' }],
  ['no token', {}],
  ['a token of another type', { token: 1 }],
])(
  'a sign-out of %s redirects to the page after a sign-out and clears its cookie',
  async (_what, content) => {
    const { signedOut } = await withIssuer()
    const { status, headers } = await signedOut(content)
    expect([status, headers['location']]).toEqual([302, '/auth/signed-out'])
    expect(String(headers['set-cookie'])).toContain('depot-logout=; Max-Age=0')
  },
)

const hour = 3_600_000

it.each([
  ['knows of an earlier end', (end: number) => JSON.stringify({ expiresAt: end - 1 }), true],
  ['knows of the same end', (end: number) => JSON.stringify({ expiresAt: end }), false],
  ['knows of a later end', (end: number) => JSON.stringify({ expiresAt: end + 1 }), false],
  ['does not say what it knows', () => undefined, false],
  ['sends text that is not JSON', () => '{"expiresAt"', false],
  ['sends text as a time', () => '{"expiresAt":"1"}', false],
])(
  'refreshes a session unless another tab was first, for a page that %s',
  async (_what, body, isRefreshed) => {
    const { explorer, asked } = await withIssuer()
    const expiresAt = Date.now() + hour
    const sessions = new Sessions({
      seal: new Seal([sessionPassword]),
      ttlMs: 8 * hour,
      clock: () => Date.now(),
    })
    const cookies = new Cookies(undefined, false)
    const session = { idToken: 'a.b.c', refreshToken: 'r', expiresAt, signedInAt: Date.now() }
    await sessions.write(cookies, session)
    const headers = {
      cookie: cookies.lines.map((line) => line.split(';')[0]).join('; '),
      'sec-fetch-site': 'same-origin',
    }
    const answer = await explorer.send('POST', '/auth/refresh', headers, body(expiresAt))
    expect(answer.status).toBe(200)
    expect(asked.filter((path) => path === '/token')).toHaveLength(isRefreshed ? 0 : 1)
    expect(JSON.parse(answer.text)).toMatchObject(
      isRefreshed ? { signedIn: true, expiresAt } : { signedIn: false },
    )
  },
)
