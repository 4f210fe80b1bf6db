import { gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import { parseBoot } from './boot.ts'
import { type Running, startExplorer } from './explorer.fixture.ts'

const json = { 'content-type': 'application/json' }
const sameOrigin = { 'sec-fetch-site': 'same-origin' }

const oidc = {
  issuerUrl: 'http://127.0.0.1:9/broker',
  clientId: 'depot-ui',
  scopes: 'openid',
  callbackPath: '/auth/callback',
}

function blockOf(html: string, id: string): string | undefined {
  return new RegExp(`<script type="application/json" id="${id}"[^>]*>([^<]*)</script>`).exec(
    html,
  )?.[1]
}

async function bootOf(explorer: Running, headers?: Record<string, string>) {
  return parseBoot(blockOf((await explorer.get('/stats', headers)).text, 'boot') ?? '')
}

function statusAnswer(status: number, body: unknown = { errors: ['no'] }) {
  return startExplorer((_request, response) => {
    response.writeHead(status, json)
    response.end(JSON.stringify(body))
  })
}

describe('a page', () => {
  it('contains the configuration and the first answer, and is not cached', async () => {
    await using explorer = await startExplorer()
    const { status, headers, text } = await explorer.get('/?q=net')
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    expect(parseBoot(blockOf(text, 'boot') ?? '')).toEqual({
      registryHost: new URL(explorer.url).host,
      baseUrl: explorer.url,
      oidc: false,
      devTokenInput: false,
      devTokenInUse: false,
      signedIn: false,
      version: '1.2.3',
    })
    expect(text).toContain('data-key="/-/api/resources?q=net&amp;match=any" data-status="200"')
    expect(blockOf(text, 'prime')).toBe('{"items":[]}')
    expect(explorer.reached.map(({ url }) => url)).toEqual([
      '/depot/ui/v1/resources?q=net&match=any',
    ])
  })

  it('has a strict policy that forbids everything it does not need', async () => {
    await using explorer = await startExplorer(undefined, { baseUrl: 'https://a.example' })
    const { headers } = await explorer.get('/')
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'strict-transport-security': 'max-age=31536000',
      'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
      'x-robots-tag': 'noindex, nofollow',
    })
  })

  it.each([
    { site: 'none', accepted: 'gzip, deflate, br', encoding: 'gzip' },
    { site: 'same-origin', accepted: 'gzip', encoding: 'gzip' },
    { site: 'none', accepted: 'identity', encoding: undefined },
    { site: 'cross-site', accepted: 'gzip', encoding: undefined },
    { site: 'same-site', accepted: 'gzip', encoding: undefined },
    { site: 'odd', accepted: 'gzip', encoding: undefined },
    { site: undefined, accepted: 'gzip', encoding: undefined },
  ])(
    'is compressed as $encoding if $site links to it, because sizes must not reveal its content to other sites',
    async ({ site, accepted, encoding }) => {
      await using explorer = await startExplorer()
      const { headers, body } = await request(`${explorer.url}/?q=net`, {
        headers: {
          'accept-encoding': accepted,
          ...(site !== undefined && { 'sec-fetch-site': site }),
        },
      })
      expect(headers['content-encoding']).toBe(encoding)
      expect(headers['vary']).toBe('Cookie, Accept-Encoding, Sec-Fetch-Site')
      const bytes = Buffer.from(await body.arrayBuffer())
      const html = (encoding === undefined ? bytes : gunzipSync(bytes)).toString()
      expect(blockOf(html, 'prime')).toBe('{"items":[]}')
    },
  )

  it('is the same build at two base URLs', async () => {
    for (const baseUrl of ['https://one.example', 'https://two.example:8443']) {
      await using explorer = await startExplorer(undefined, { baseUrl })
      const { registryHost, baseUrl: shown } = await bootOf(explorer)
      expect([registryHost, shown]).toEqual([new URL(baseUrl).host, baseUrl])
    }
  })

  it('takes its address from proxies only if they are trusted', async () => {
    const headers = { 'x-forwarded-host': 'out.example', 'x-forwarded-proto': 'https' }
    await using trusting = await startExplorer(undefined, { trustProxy: true })
    expect((await bootOf(trusting, headers)).baseUrl).toBe('https://out.example')
    await using careful = await startExplorer()
    expect((await bootOf(careful, headers)).baseUrl).toBe(careful.url)
  })

  it.each(['"><script>alert(1)</script>', 'a.example/evil', 'a b', 'user@evil.example', '-->'])(
    'ignores markup in the host %j',
    async (host) => {
      await using explorer = await startExplorer(undefined, { trustProxy: true })
      const { text } = await explorer.get('/', { 'x-forwarded-host': host })
      expect(parseBoot(blockOf(text, 'boot') ?? '').baseUrl).toBe(explorer.url)
    },
  )

  it('has the theme of its cookie and no other attribute', async () => {
    await using explorer = await startExplorer()
    const pageWith = async (cookie: string) => (await explorer.get('/', { cookie })).text
    expect(await pageWith('depot-theme=dark')).toContain('data-theme="dark"')
    expect(await pageWith('depot-theme="><script>')).not.toContain('data-theme')
  })

  it('escapes markup in answers of the server', async () => {
    const evil = '</script><script>alert(1)</script><!--'
    await using explorer = await statusAnswer(200, { items: [{ name: evil }] })
    const { text } = await explorer.get('/?q=%22%3E%3Cscript%3E&x="><script>alert(1)</script>')
    expect(text.match(/<script/g)).toHaveLength(2)
    expect(JSON.parse(blockOf(text, 'prime') ?? '')).toEqual({ items: [{ name: evil }] })
  })

  it('accepts only GET and HEAD', async () => {
    await using explorer = await startExplorer()
    expect((await explorer.send('POST', '/stats')).status).toBe(405)
    const { status, text } = await explorer.send('HEAD', '/stats')
    expect([status, text]).toEqual([200, ''])
  })

  it.each([
    [200, '/platform/module/vpc', 200],
    [404, '/platform/module/vpc', 404],
    [403, '/stats', 403],
    [401, '/stats', 200],
    [400, '/?page=x', 200],
    [500, '/stats', 200],
    [429, '/stats', 200],
    [502, '/stats', 503],
    [503, '/platform/module/vpc', 503],
    [504, '/', 503],
    [403, '/platform/module/vpc', 403],
    [404, '/-/r/depot/module/vpc', 404],
    [401, '/platform/module/vpc', 200],
    [200, '/nowhere', 404],
    [200, '/a/b/c/d', 404],
  ])('with the answer %i of the API has at %s the status %i', async (answered, path, status) => {
    await using explorer = await statusAnswer(answered)
    expect((await explorer.get(path)).status).toBe(status)
  })

  it('does not wait for a slow server', async () => {
    await using explorer = await startExplorer(() => undefined, { firstAnswerMs: 300 })
    const { status, text } = await explorer.get('/stats')
    expect([status, blockOf(text, 'prime')]).toEqual([200, undefined])
  })

  it.each([
    ['HTML', '<html>'],
    ['cut JSON', '{"items":['],
    ['a very large answer', JSON.stringify({ items: 'x'.repeat(2 ** 20) })],
  ])('has no first answer if that is %s', async (_what, body) => {
    await using explorer = await startExplorer((_request, response) => {
      response.writeHead(200, { ...json, 'content-length': Buffer.byteLength(body) })
      response.end(body)
    })
    expect(blockOf((await explorer.get('/stats')).text, 'prime')).toBeUndefined()
  })
})

describe('a 401', () => {
  const refusing = (options: Parameters<typeof startExplorer>[1]) =>
    startExplorer((_request, response) => {
      response.writeHead(401, json)
      response.end('{"errors":["no token"]}')
    }, options)

  it('redirects to the login, which redirects back to the page', async () => {
    await using explorer = await refusing({ oidc, baseUrl: 'https://a.example' })
    const { status, headers } = await explorer.get('/stats?namespace=a&x=%26')
    expect([status, headers['location']]).toEqual([
      302,
      '/auth/login?auto&returnTo=%2Fstats%3Fnamespace%3Da%26x%3D%2526',
    ])
  })

  it('is reported by the page if there is no login', async () => {
    await using explorer = await refusing({})
    const { status, text } = await explorer.get('/stats')
    expect([status, blockOf(text, 'prime')]).toEqual([200, '{"errors":["no token"]}'])
  })

  it('does not redirect while a developer token is used, which a login would not replace', async () => {
    await using explorer = await refusing({
      oidc,
      baseUrl: 'https://a.example',
      devTokenInput: true,
    })
    const { cookies } = await explorer.send(
      'POST',
      '/auth/dev-token',
      { ...json, ...sameOrigin },
      '{"token":"bad"}',
    )
    expect((await explorer.get('/stats', { cookie: cookies })).status).toBe(200)
  })

  it('does not cause a redirect loop if the browser keeps no session', async () => {
    await using explorer = await refusing({ oidc, baseUrl: 'https://a.example' })
    const { headers } = await explorer.get('/stats', { cookie: '__Host-depot-arrived=1' })
    expect(headers['location']).toBe('/auth/error?reason=NoSession')
  })
})

describe('the developer token', () => {
  const withInput = () => startExplorer(undefined, { devTokenInput: true })
  const body = JSON.stringify({ token: 'Bearer a.b.c' })

  it('is sealed, used, hidden from scripts, and removed on request', async () => {
    await using explorer = await withInput()
    const set = await explorer.send('POST', '/auth/dev-token', { ...json, ...sameOrigin }, body)
    expect([set.status, JSON.parse(set.text)]).toMatchObject([200, { devTokenInUse: true }])
    const page = await explorer.get('/stats', { cookie: set.cookies })
    expect(explorer.reached.at(-1)?.headers.authorization).toBe('Bearer a.b.c')
    expect(parseBoot(blockOf(page.text, 'boot') ?? '')).toMatchObject({
      devTokenInput: true,
      devTokenInUse: true,
      signedIn: false,
    })
    expect(set.text + page.text + JSON.stringify(page.headers)).not.toContain('a.b.c')
    expect(explorer.log.join('\n')).not.toContain('a.b.c')
    const cleared = await explorer.send('DELETE', '/auth/dev-token', {
      ...sameOrigin,
      cookie: set.cookies,
    })
    expect(String(cleared.headers['set-cookie'])).toContain('depot-session=; Max-Age=0')
  })

  it('has no field and no route if it is disabled', async () => {
    await using explorer = await startExplorer()
    expect(await bootOf(explorer)).toMatchObject({ devTokenInput: false })
    for (const method of ['POST', 'DELETE', 'GET']) {
      expect((await explorer.send(method, '/auth/dev-token', sameOrigin)).status).toBe(404)
    }
  })

  it.each([
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'none' }, 403],
    [{ 'sec-fetch-site': 'nonsense' }, 403],
    [{}, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'https://a.example' }, 200],
    [{ origin: 'https://a.example', 'sec-fetch-site': 'cross-site' }, 403],
  ])('is not accepted from other sites: %j gets %i', async (headers, status) => {
    await using explorer = await startExplorer(undefined, {
      devTokenInput: true,
      baseUrl: 'https://a.example',
    })
    const sent = { ...json, ...headers } as Record<string, string>
    expect((await explorer.send('POST', '/auth/dev-token', sent, body)).status).toBe(status)
  })

  it.each([
    ['no JSON', 'token=a', 400],
    ['an empty token', '{"token":""}', 400],
    ['a token of several lines', '{"token":"a\\r\\nX-Evil: 1"}', 400],
    ['another type', '{"token":{}}', 400],
    ['a list', '[]', 400],
    ['more than 64 KiB', JSON.stringify({ token: 'a'.repeat(70_000) }), 413],
    ['more than cookies hold', JSON.stringify({ token: noise(12_000) }), 413],
  ])('is refused if it is %s', async (_what, bad, status) => {
    await using explorer = await withInput()
    const answer = await explorer.send('POST', '/auth/dev-token', { ...json, ...sameOrigin }, bad)
    expect(answer.status).toBe(status)
    expect(answer.headers).not.toHaveProperty('set-cookie')
  })
})

describe('static files', () => {
  it.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, deflate', undefined],
    ['identity', undefined],
  ])(
    'are sent as compressed by the build if the browser accepts %s',
    async (accepted, encoding) => {
      await using explorer = await startExplorer()
      const { headers } = await explorer.get('/-/assets/main-abc.css', {
        'accept-encoding': accepted,
      })
      expect(headers['content-encoding']).toBe(encoding)
      expect(headers.vary).toContain('Accept-Encoding')
      expect((await explorer.get('/-/assets/main-abc.css.br')).status).toBe(404)
    },
  )

  it('are cached for a year under their hash', async () => {
    await using explorer = await startExplorer()
    const { headers, text } = await explorer.get('/-/assets/main-abc.css')
    expect(headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    })
    expect(text).toContain('body { margin: 0 }')
    expect((await explorer.get('/-/assets/other.js')).status).toBe(404)
    expect((await explorer.get('/-/assets/../index.html')).status).toBe(404)
  })

  it('exclude search engines', async () => {
    await using explorer = await startExplorer()
    expect((await explorer.get('/robots.txt')).text).toBe('User-agent: *\nDisallow: /\n')
    expect((await explorer.get('/favicon.svg')).headers['content-type']).toBe('image/svg+xml')
  })
})

it('has no login unless one is configured', async () => {
  await using explorer = await startExplorer()
  for (const path of ['/auth/login', '/auth/callback', '/auth/nothing']) {
    expect((await explorer.get(path)).status).toBe(404)
  }
  for (const path of ['/auth/logout', '/auth/refresh']) {
    expect((await explorer.get(path)).status).toBe(405)
  }
})

function noise(length: number): string {
  let text = ''
  while (text.length < length) text += Math.random().toString(36).slice(2)
  return text.slice(0, length)
}
