import { expect, it, onTestFinished } from 'vitest'
import { listening, sessionPassword, startExplorer } from './explorer.fixture.ts'
import { packToken } from './packed-token.ts'
import { Seal } from './seal.ts'

/** An explorer whose issuer has a page that ends sessions there. */
async function withIssuer() {
  const issuer = await listening((request, response) => {
    const url = `http://${request.headers.host}`
    response.setHeader('Content-Type', 'application/json')
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
    signedOut: async (content: object) =>
      explorer.get('/auth/logged-out', {
        cookie: `depot-logout=${await seal.seal('logout', content, 60)}`,
      }),
  }
}

it('a sign-out ends at the page of the issuer, with the token that began it', async () => {
  const { issuer, signedOut } = await withIssuer()
  const { status, headers } = await signedOut({ token: packToken('a.b.c') })
  const target = new URL(String(headers['location']))
  expect([status, target.origin + target.pathname]).toEqual([302, `${issuer.url}/end`])
  expect(Object.fromEntries(target.searchParams)).toMatchObject({
    id_token_hint: 'a.b.c',
    post_logout_redirect_uri: 'http://a.example/',
  })
})

it.each([
  ['a token that was packed by another release', { token: 'eyJhbGciOiJub25lIn0.e30.' }],
  ['a token that was cut', { token: packToken('a.b.c').slice(0, 9) }],
  ['an empty token', { token: '' }],
  ['no token', {}],
  ['a token of another type', { token: 1 }],
])('a sign-out of %s ends at the first page, and its cookie is gone', async (_what, content) => {
  const { signedOut } = await withIssuer()
  const { status, headers } = await signedOut(content)
  expect([status, headers['location']]).toEqual([302, '/'])
  expect(String(headers['set-cookie'])).toContain('depot-logout=; Max-Age=0')
})
