import { decodeJwt, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../base/telemetry/telemetry.ts'
import { listening } from './explorer.fixture.ts'
import { Issuer } from './issuer.ts'
import { type Grant, issuerGrant, sharedGrant } from './refresh.ts'
import type { Session } from './session.ts'

const session: Session = { idToken: 'old', refreshToken: 'first', signedInAt: 0 }

function started() {
  let now = 0
  const asked: (string | undefined)[] = []
  const waiting: PromiseWithResolvers<Session>[] = []
  const refresh = sharedGrant(
    ({ refreshToken }) => {
      asked.push(refreshToken)
      const answer = Promise.withResolvers<Session>()
      waiting.push(answer)
      return answer.promise
    },
    () => now,
  )
  return { refresh, asked, waiting, at: (ms: number) => (now = ms) }
}

it('asks the issuer once for concurrent requests', async () => {
  const { refresh, asked, waiting } = started()
  const both = [refresh(session), refresh({ ...session, devToken: 'mine' })]
  waiting[0]?.resolve({ ...session, idToken: 'new', refreshToken: 'second' })
  const [one, other] = await Promise.all(both)
  expect(asked).toEqual(['first'])
  expect(one).toMatchObject({ idToken: 'new', refreshToken: 'second', devToken: undefined })
  expect(other).toMatchObject({ idToken: 'new', devToken: 'mine' })
})

it('gives the same result for 30 s to requests with the previous cookie', async () => {
  const { refresh, asked, waiting, at } = started()
  const first = refresh(session)
  waiting[0]?.resolve({ ...session, idToken: 'new', refreshToken: 'second' })
  await first
  at(29_999)
  expect((await refresh(session)).idToken).toBe('new')
  expect(asked).toHaveLength(1)
  at(30_000)
  void refresh(session)
  expect(asked).toHaveLength(2)
})

it('asks again after the issuer was unreachable', async () => {
  const { refresh, asked, waiting } = started()
  const first = refresh(session)
  waiting[0]?.reject(new Error('unreachable'))
  await expect(first).rejects.toThrow('unreachable')
  void refresh(session)
  expect(asked).toHaveLength(2)
})

it('keeps sessions apart', async () => {
  const { refresh, asked, waiting } = started()
  const first = refresh(session)
  const second = refresh({ ...session, refreshToken: 'other' })
  waiting[0]?.resolve({ ...session, idToken: 'a' })
  waiting[1]?.resolve({ ...session, idToken: 'b' })
  expect([(await first).idToken, (await second).idToken]).toEqual(['a', 'b'])
  expect(asked).toEqual(['first', 'other'])
})

/** An issuer that answers each refresh with an ID token for this subject. */
async function grantFor(sub: string): Promise<Grant> {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'a', alg: 'RS256', use: 'sig' }
  const server = await listening((request, response) => {
    const url = `http://${request.headers.host}`
    const answer = async (): Promise<object> => {
      if (request.url === '/keys') return { keys: [jwk] }
      if (request.url !== '/token') {
        return { issuer: url, token_endpoint: `${url}/token`, jwks_uri: `${url}/keys` }
      }
      const idToken = await new SignJWT({ sub })
        .setProtectedHeader({ alg: 'RS256', kid: 'a' })
        .setIssuer(url)
        .setAudience('depot-ui')
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey)
      return { access_token: 'a', token_type: 'bearer', refresh_token: 'second', id_token: idToken }
    }
    response.setHeader('Content-Type', 'application/json')
    void answer().then((body) => response.end(JSON.stringify(body)))
  })
  const log = createLogger('silent')
  const issuer = new Issuer({
    oidc: {
      issuerUrl: server.url,
      clientId: 'depot-ui',
      scopes: 'openid',
      callbackPath: '/auth/callback',
    },
    fetch: (url, init) => fetch(url, init as RequestInit),
    log,
  })
  onTestFinished(() => {
    issuer.stop()
    server.stop()
  })
  return issuerGrant(issuer, log)
}

describe('an ID token from a refresh', () => {
  const alice: Session = {
    idToken: new UnsecuredJWT({ sub: 'alice' }).encode(),
    refreshToken: 'first',
    signedInAt: 0,
  }

  it('continues the session of the same subject', async () => {
    const grant = await grantFor('alice')
    const { idToken = '', refreshToken } = await grant(alice)
    expect([decodeJwt(idToken).sub, refreshToken]).toEqual(['alice', 'second'])
  })

  it('ends the session if it has another subject', async () => {
    const grant = await grantFor('mallory')
    expect(await grant(alice)).toEqual({ devToken: undefined, signedInAt: 0 })
  })
})
