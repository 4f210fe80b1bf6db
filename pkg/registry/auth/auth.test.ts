import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CompactSign, decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseResource } from '../../api/v1alpha1/v1alpha1.ts'
import { proxyRules } from '../../base/http/http.ts'
import { createLogger, createMetrics, type RequestFacts } from '../../base/telemetry/telemetry.ts'
import { GroupBindings } from '../access/access.ts'
import { Auth, type AuthOptions, type OidcAuthOptions } from './auth.ts'
import { issuerKey, oidcOptions, TestIssuer } from './issuer.fixture.ts'

let issuer: TestIssuer
const opened: Auth[] = []
beforeEach(async () => {
  issuer = await TestIssuer.start()
})
afterEach(async () => {
  for (const auth of opened.splice(0)) await auth.close()
  issuer.stop()
})

function open(oidc: Partial<OidcAuthOptions> = {}, options: Partial<AuthOptions> = {}): Auth {
  const log = createLogger('silent')
  const metrics = createMetrics({ version: 'test' })
  const bindings = new GroupBindings({ namespace: 'depot-system', log, metrics })
  const binding = parseResource('GroupBinding', {
    metadata: { name: 'all', namespace: 'depot-system' },
    spec: { expression: '"platform" in groups', moduleResources: ['*'] },
  })
  if (!binding.ok) throw new Error('the binding is not valid')
  bindings.apply({ type: 'upsert', resource: binding.resource })
  const auth = new Auth({
    mode: 'oidc',
    oidc: oidcOptions(issuer.url, oidc),
    bindings,
    isPublic: () => false,
    log,
    metrics,
    ...options,
  })
  opened.push(auth)
  return auth
}

/** Whether a caller may read a module, or the reason why that cannot be said. */
async function ask(auth: Auth, token: string, facts?: RequestFacts): Promise<unknown> {
  try {
    const request = { authorization: `Bearer ${token}`, facts }
    return await auth.mayRead(request, 'Module', 'platform', 'vpc')
  } catch (thrown) {
    return thrown
  }
}

const refusal = (reason: string, message: RegExp) =>
  expect.objectContaining({ reason, message: expect.stringMatching(message) as string })

describe('a known token', () => {
  it('is known for all spellings of the header', async () => {
    const auth = open()
    await auth.started
    const token = await issuer.sign()
    expect(await ask(auth, token)).toBe(true)
    const schemes = Array.from({ length: 64 }, (_, bits) =>
      Array.from('bearer', (letter, at) =>
        (bits >> at) % 2 === 1 ? letter.toUpperCase() : letter,
      ),
    )
    for (const [index, scheme] of schemes.entries()) {
      const authorization = `${scheme.join('')} ${' '.repeat(index % 7)}${token}${' '.repeat(index % 3)}`
      // At once: a promise would mean that it was checked again.
      expect(auth.mayRead({ authorization }, 'Module', 'platform', 'vpc')).toBe(true)
    }
  })

  it('has one spelling: another text for the same signature is refused', async () => {
    const auth = open()
    await auth.started
    const token = await issuer.sign()
    // 256 bytes are 342 characters, of which the last says two bits: 15 others decode to the same bytes.
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const bytesOf = (text: string) => Buffer.from(text.split('.')[2] ?? '', 'base64url')
    const others = Array.from(digits, (digit) => token.slice(0, -1) + digit)
      .filter((other) => other !== token && bytesOf(other).equals(bytesOf(token)))
      .concat(`${token}=`, `${token}==`, token + '='.repeat(1000))
    expect(others).toHaveLength(18)
    for (const other of others) {
      expect(await ask(auth, other)).toEqual(refusal('Unauthenticated', /as it was issued/))
    }
    expect(await ask(auth, token)).toBe(true)
  })

  it('is forgotten before groups fill the memory', async () => {
    const auth = open({}, {})
    await auth.started
    const many = (start: number) =>
      Array.from({ length: 5000 }, (_, n) => `${(start + n) % 10_000}`)
    const tokens: string[] = []
    for (let count = 0; count < 450; count += 1) {
      const token = await issuer.sign({ sub: `s${count}`, groups: ['platform', ...many(count)] })
      expect(await ask(auth, token)).toBe(true)
      tokens.push(token)
    }
    const isKnown = (token: string) =>
      !(auth.viewOf({ authorization: `Bearer ${token}` }) instanceof Promise)
    expect(isKnown(tokens.at(-1) ?? '')).toBe(true)
    // Each of them keeps some 170 kB alive.
    expect(tokens.filter(isKnown).length).toBeLessThan(400)
  }, 300_000)
})

describe('keys that change', () => {
  it('without overlap refuse none of 250 concurrent callers', async () => {
    const auth = open({ timings: { unknownKeyMs: 0 } })
    await auth.started
    const next = await issuerKey('second')
    issuer.key = next
    issuer.published = [next.jwk]
    const tokens = await Promise.all(
      Array.from({ length: 250 }, (_, index) => issuer.sign({ sub: `s${index}` })),
    )
    const before = issuer.keyFetches
    const answers = await Promise.all(tokens.map((token) => ask(auth, token)))
    expect(new Set(answers)).toEqual(new Set([true]))
    expect(issuer.keyFetches - before).toBeLessThan(5)
  })

  it('are refused with 503 and Retry-After shortly after a fetch, and accepted later', async () => {
    let nowMs = Date.now()
    const auth = open({}, { clock: () => nowMs })
    await auth.started
    issuer.key = await issuerKey('second')
    issuer.published = [issuer.key.jwk]
    const token = await issuer.sign()
    expect(await ask(auth, token)).toMatchObject({
      reason: 'Unavailable',
      headers: { 'Retry-After': expect.stringMatching(/^\d+$/) as string },
    })
    nowMs += 10_001
    expect(await ask(auth, token)).toBe(true)
  })

  it('never answer a token from the future with 503, which clients would retry', async () => {
    const auth = open()
    await auth.started
    const rogue = await issuerKey('unknown')
    const ahead = { iat: Math.floor(Date.now() / 1000) + 3600 }
    expect(await ask(auth, await issuer.sign(ahead, { key: rogue }))).toEqual(
      refusal('Unauthenticated', /key that the issuer does not publish/),
    )
  })

  it('under the id of the former key are fetched when a signature fails', async () => {
    const auth = open({ timings: { unknownKeyMs: 0 } })
    await auth.started
    expect(await ask(auth, await issuer.sign())).toBe(true)
    issuer.key = await issuerKey('first')
    issuer.published = [issuer.key.jwk]
    expect(await ask(auth, await issuer.sign({ sub: 'bob' }))).toBe(true)
  })

  it('without ids are tried one after the other, and fetched if none fits', async () => {
    const auth = open({ timings: { unknownKeyMs: 0 } })
    const { kid: _, ...anonymous } = issuer.key.jwk
    issuer.published = [anonymous]
    await auth.started
    const next = await issuerKey('second')
    const { kid: __, ...nextAnonymous } = next.jwk
    issuer.published = [anonymous, nextAnonymous]
    expect(await ask(auth, await issuer.sign({}, { header: { kid: undefined } }))).toBe(true)
    const other = await issuer.sign({}, { key: next, header: { kid: undefined } })
    expect(await ask(auth, other)).toBe(true)
  })

  it('are found next to entries that are not keys', async () => {
    const { kid, jwk } = issuer.key
    issuer.published = [
      { kid: 'no type' },
      { kty: 'oct', kid: 'secret', k: 'c2VjcmV0' },
      { kty: 'RSA', kid: 'half', n: 'AQAB' },
      { kty: 'RSA', kid, n: '!', e: '!' },
      null as never,
      'text' as never,
      jwk,
    ]
    const auth = open()
    await auth.started
    expect(await ask(auth, await issuer.sign())).toBe(true)
    const half = await issuer.sign({}, { header: { kid: 'half' } })
    expect(await ask(auth, half)).toEqual(refusal('Unauthenticated', /signature/))
  })
})

describe('a starting server', () => {
  it('waits until the issuer has answered', async () => {
    const auth = open()
    expect(auth.waitingFor()).toEqual([expect.stringContaining('OIDC issuer')])
    await auth.started
    await vi.waitFor(() => expect(auth.waitingFor()).toEqual([]))
  })

  it('waits for one attempt only if the issuer is unreachable', async () => {
    issuer.unreachable = true
    const auth = open({ timings: { firstRetryMs: 60_000 } })
    await vi.waitFor(() => expect(auth.waitingFor()).toEqual([]))
    expect(auth.impaired()).not.toEqual([])
  })

  it('waits for five seconds if the issuer accepts connections and says nothing', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const auth = open({ issuerUrl: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` })
      vi.advanceTimersByTime(4_999)
      expect(auth.waitingFor()).not.toEqual([])
      vi.advanceTimersByTime(1)
      expect(auth.waitingFor()).toEqual([])
    } finally {
      vi.useRealTimers()
      silent.closeAllConnections()
      silent.close()
    }
  })
})

describe('an issuer that is unreachable at the start', () => {
  it('is reported with the last error, and only callers with its tokens wait', async () => {
    issuer.unreachable = true
    const auth = open({ allowGuests: true, timings: { firstRetryMs: 20, maxRetryMs: 20 } })
    await vi.waitFor(() =>
      expect(auth.impaired()).toEqual([expect.stringMatching(/being fetched: \S/)]),
    )
    expect(auth.viewOf({ authorization: undefined })).toBe('public')
    expect(await ask(auth, await issuer.sign())).toEqual(
      refusal('Unavailable', /keys of the OIDC issuer are not known yet/),
    )
    issuer.unreachable = false
    await auth.started
    expect(auth.impaired()).toEqual([])
    expect(await ask(auth, await issuer.sign())).toBe(true)
  })

  it('is reported when it becomes unreachable later', async () => {
    const auth = open({ timings: { refreshMs: 20, firstRetryMs: 20, maxRetryMs: 20 } })
    await auth.started
    issuer.unreachable = true
    await vi.waitFor(() =>
      expect(auth.impaired()).toEqual([expect.stringMatching(/previously fetched keys/)]),
    )
    expect(await ask(auth, await issuer.sign())).toBe(true)
  })
})

it('an issuer behind an egress proxy is asked through it', async () => {
  const asked: string[] = []
  const behind = 'http://login.example/broker'
  issuer.metadata = { issuer: behind, jwks_uri: `${behind}/keys` }
  const proxy = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    asked.push(incoming.url ?? '')
    const { pathname } = new URL(incoming.url ?? '')
    void fetch(new URL(pathname, issuer.url)).then(async (answer) =>
      outgoing.end(await answer.text()),
    )
  })
  await new Promise<void>((done) => {
    proxy.listen(0, '127.0.0.1', done)
  })
  const HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const auth = open({ issuerUrl: behind, proxies: proxyRules({ HTTP_PROXY }) })
  await auth.started
  expect(asked).toEqual([`${behind}/.well-known/openid-configuration`, `${behind}/keys`])
  expect(await ask(auth, await issuer.sign({ iss: behind }))).toBe(true)
  proxy.closeAllConnections()
  proxy.close()
})

describe('groups', () => {
  it.each([
    ['groups', { groups: ['platform'] }, true],
    ['groups', { groups: 'platform' }, true],
    ['realm_access.roles', { groups: undefined, realm_access: { roles: ['platform'] } }, true],
    ['realm_access.roles', { 'realm_access.roles': ['platform'] }, true],
    ['a.b.c', { a: { b: { c: 'platform' } } }, true],
    ['https://example.com/groups', { 'https://example.com/groups': ['platform'] }, true],
    ['realm_access.roles', { realm_access: { roles: 7 } }, /"realm_access.roles" is 7/],
    ['realm_access.roles', { realm_access: ['roles'] }, /has no claim "realm_access.roles"/],
    ['constructor.name', {}, /has no claim "constructor.name"; it has "iss", "sub"/],
    ['__proto__', {}, /has no claim "__proto__"/],
    [
      'groups',
      { groups: undefined },
      /leave the claim out for a person in no group: then have the person added/,
    ],
    ['groups', { groups: undefined, _claim_names: { groups: 'src1' } }, /too many groups/],
    ['groups', { groups: null }, /is null, and must be a list of texts/],
    ['groups', { groups: [{ name: 'platform' }] }, /must be a list of texts/],
  ])('claim %s of %j', async (groupsClaim, claims, expected) => {
    const auth = open({ groupsClaim })
    await auth.started
    const answer = await ask(auth, await issuer.sign(claims))
    const wanted = expected instanceof RegExp ? refusal('Forbidden', expected) : expected
    expect(answer).toEqual(wanted)
  })
})

it('a claim that is nested too deeply is refused like any other', async () => {
  const auth = open()
  await auth.started
  const { iss, sub, aud, exp } = decodeJwt(await issuer.sign())
  const groups = '['.repeat(15_000) + ']'.repeat(15_000)
  const payload = JSON.stringify({ iss, sub, aud, exp }).replace(/}$/, `,"groups":${groups}}`)
  const { kid, privateKey } = issuer.key
  const token = await new CompactSign(Buffer.from(payload))
    .setProtectedHeader({ alg: 'RS256', kid })
    .sign(privateKey)
  expect(await ask(auth, token)).toEqual(
    refusal('Forbidden', /claim "groups" is nested too deeply, and must be a list of texts/),
  )
})

describe('a refusal names the value, the expectation and what to change', () => {
  it.each([
    ['aud', { aud: 'account' }, /aud is "account", .*takes tokens for "depot".*audience mapper/],
    ['aud', { aud: undefined }, /aud is nothing, and this registry takes/],
    ['aud', { aud: ['x'.repeat(5000)] }, /x…, and this registry/],
    ['issuer', { iss: 'https://other.example' }, /issued by "https:\/\/other.example", and .*127/],
    ['exp', { exp: 1_700_000_000 }, /expired \d+ s ago \(claim exp is 1700000000\)/],
    ['nbf', { nbf: 9_000_000_000 }, /not valid yet \(claim nbf is 9000000000\)/],
    ['sub', { sub: 7 }, /sub is 7, and must be a text/],
  ])('of the claim %s', async (_, claims, message) => {
    const auth = open()
    await auth.started
    const facts: RequestFacts = {}
    const answer = await ask(auth, await issuer.sign(claims), facts)
    expect(answer).toEqual(refusal('Unauthenticated', message))
    expect(facts).toMatchObject({
      callerHash: expect.stringMatching(/^[\w-]{12}$/) as string,
      refusal: { reason: expect.any(String) as string, message: (answer as Error).message },
    })
  })
})
