import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { listening, neverAccepting, sendTo, startExplorer } from './explorer.fixture.ts'
import { deadlines } from './upstream.ts'

const json = { 'content-type': 'application/json' }
const sameOrigin = { 'sec-fetch-site': 'same-origin' }

/** An explorer with a developer's token in the session. */
async function signedIn(...args: Parameters<typeof startExplorer>) {
  const explorer = await startExplorer(args[0], { devTokenInput: true, ...args[1] })
  const { cookies } = await explorer.send(
    'POST',
    '/auth/dev-token',
    { ...json, ...sameOrigin },
    JSON.stringify({ token: 'secret-token' }),
  )
  return { explorer, cookie: cookies }
}

describe('a request for the server', () => {
  it.each([
    ['/depot', true],
    ['/depot/x', true],
    ['/depots', false],
    ['/depotx', false],
    ['/depot/ui/v1/resources?q=a%20b', true],
    ['/depot/storage/v1/a%2Fb%2Fc', true],
    ['/.well-known/terraform.json', true],
    ['/.well-knownx', false],
    ['/v1/modules/a/b/c/versions', true],
    ['/v1/providers/a/b/versions', true],
    ['/v1/other', false],
    ['/broker/auth', true],
    ['/brokers', false],
  ])('%s: %j', async (path, isServers) => {
    await using explorer = await startExplorer()
    await explorer.get(path)
    expect(explorer.reached.some(({ url }) => url === path)).toBe(isServers)
  })

  it('reaches the server with unchanged method, body, host and caller', async () => {
    await using explorer = await startExplorer()
    const host = new URL(explorer.url).host
    await explorer.send('POST', '/broker/token?a=1', { ...json, 'x-own': 'kept' }, '{"a":1}')
    expect(explorer.reached[0]).toMatchObject({
      method: 'POST',
      url: '/broker/token?a=1',
      body: '{"a":1}',
      headers: {
        host,
        'x-own': 'kept',
        'x-forwarded-host': host,
        'x-forwarded-proto': 'http',
        'x-forwarded-for': '127.0.0.1',
      },
    })
  })

  it('has the same request id in both logs and in the answer', async () => {
    await using explorer = await startExplorer((_request, response, { headers }) => {
      response.writeHead(200, {
        'x-request-id': String(headers['x-request-id']),
        'x-content-type-options': 'nosniff',
      })
      response.end()
    })
    for (const path of ['/depot/x', '/-/api/stats', '/broker/x']) {
      const { headers } = await explorer.get(path)
      expect(headers['x-request-id']).toBe(explorer.reached.at(-1)?.headers['x-request-id'])
      expect(headers['x-request-id']).toMatch(/^[\w.:-]{1,64}$/)
      expect(headers['x-content-type-options']).toBe('nosniff')
    }
    await explorer.get('/depot/x', { 'x-request-id': 'mine' })
    expect(explorer.reached.at(-1)?.headers['x-request-id']).toBe('mine')
  })

  it('gets the answer of the server, including redirects', async () => {
    await using explorer = await startExplorer((_request, response) => {
      response.writeHead(307, { location: 'https://storage.example/a', 'x-registry-get': 'b' })
      response.end()
    })
    const { status, headers } = await explorer.get('/depot/x')
    expect([status, headers['location'], headers['x-registry-get']]).toEqual([
      307,
      'https://storage.example/a',
      'b',
    ])
  })

  it('keeps the length in answers to HEAD', async () => {
    await using explorer = await startExplorer((_request, response) => {
      response.writeHead(200, { 'content-length': '1234', 'content-type': 'application/zip' })
      response.end()
    })
    const { headers, text } = await explorer.send('HEAD', '/depot/x')
    expect([headers['content-length'], text]).toEqual(['1234', ''])
  })

  it('loses connection headers, and proxy headers of untrusted clients', async () => {
    await using explorer = await startExplorer((_request, response) => {
      response.writeHead(200, { connection: 'close, x-mine', 'x-mine': '1', 'keep-alive': 'a=1' })
      response.end()
    })
    const answer = await explorer.get('/depot/x', {
      te: 'trailers',
      'x-forwarded-for': '1.2.3.4',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-prefix': '/evil',
      'x-real-ip': '1.2.3.4',
      'x-original-url': '/evil',
      'x-remote-user': 'admin',
      forwarded: 'for=1.2.3.4',
      'proxy-authorization': 'Basic abc',
    })
    const { headers } = explorer.reached[0] ?? { headers: {} }
    expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' })
    for (const name of ['te', 'x-real-ip', 'x-original-url', 'forwarded', 'proxy-authorization']) {
      expect(headers).not.toHaveProperty(name)
    }
    expect(headers).not.toHaveProperty('x-forwarded-prefix')
    expect(headers).not.toHaveProperty('x-remote-user')
    expect(answer.headers).not.toHaveProperty('x-mine')
  })

  it('never gets an answer that runs as a page of this origin', async () => {
    await using explorer = await startExplorer((_request, response) => {
      response.writeHead(200, {
        'content-type': 'text/html',
        // The server's own policy never replaces the explorer's.
        'content-security-policy': "script-src 'unsafe-inline'",
      })
      response.end('<script>alert(1)</script>')
    })
    const { headers } = await explorer.get('/depot/x')
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; sandbox;/)
    expect(headers['x-content-type-options']).toBe('nosniff')
    const broker = await explorer.get('/broker/x')
    expect(broker.headers['content-security-policy']).toBe("script-src 'unsafe-inline'")
  })

  it.each(['/depot/a/%2e%2e%2fb', '/depot/a%2f..%2fb', '/depot/%252e%252e/b', '/-/api/a%5c..%5cb'])(
    'does not forward %s',
    async (path) => {
      await using explorer = await startExplorer()
      expect((await explorer.get(path)).status).toBe(400)
      expect(explorer.reached).toEqual([])
    },
  )
})

describe('the session of a person', () => {
  it.each([
    ['same-origin', true],
    ['same-site', false],
    ['cross-site', false],
    ['none', false],
    ['', false],
    ['nonsense', false],
  ])('authorizes /depot/* for a request that is %j: %j', async (site, isUsed) => {
    const { explorer, cookie } = await signedIn()
    await using _ = explorer
    await explorer.get('/depot/ui/v1/stats', { cookie, ...(site && { 'sec-fetch-site': site }) })
    expect(explorer.reached[0]?.headers.authorization).toBe(
      isUsed ? 'Bearer secret-token' : undefined,
    )
  })

  it.each([
    ['same-origin', true],
    ['same-site', false],
    ['cross-site', false],
    ['none', true],
    ['', true],
    ['nonsense', false],
  ])('authorizes /-/api/* for a request that is %j: %j', async (site, isUsed) => {
    const { explorer, cookie } = await signedIn()
    await using _ = explorer
    await explorer.get('/-/api/stats', { cookie, ...(site && { 'sec-fetch-site': site }) })
    expect(explorer.reached[0]).toMatchObject({ url: '/depot/ui/v1/stats' })
    expect(explorer.reached[0]?.headers.authorization).toBe(
      isUsed ? 'Bearer secret-token' : undefined,
    )
  })

  it('never replaces the Authorization of a request', async () => {
    const { explorer, cookie } = await signedIn()
    await using _ = explorer
    await explorer.get('/depot/x', { cookie, ...sameOrigin, authorization: 'Bearer own' })
    expect(explorer.reached[0]?.headers.authorization).toBe('Bearer own')
  })

  it.each([
    ['POST', '/depot/x'],
    ['DELETE', '/depot/x'],
    ['GET', '/.well-known/terraform.json'],
    ['GET', '/v1/modules/a/b/c/versions'],
    ['GET', '/broker/auth'],
  ])('does not authorize %s %s', async (method, path) => {
    const { explorer, cookie } = await signedIn()
    await using _ = explorer
    await explorer.send(method, path, { cookie, ...sameOrigin })
    expect(explorer.reached[0]?.headers.authorization).toBeUndefined()
  })

  it('keeps its cookie from the server, and only the broker gets other cookies', async () => {
    const { explorer, cookie } = await signedIn()
    await using _ = explorer
    const sent = { cookie: `${cookie}; _session=broker; depot-theme=dark`, ...sameOrigin }
    for (const path of ['/depot/x', '/-/api/stats', '/v1/modules/a', '/broker/auth', '/stats']) {
      await explorer.get(path, sent)
    }
    expect(explorer.reached.map(({ url, headers }) => [url, headers.cookie])).toEqual([
      ['/depot/x', undefined],
      ['/depot/ui/v1/stats', undefined],
      ['/v1/modules/a', undefined],
      ['/broker/auth', '_session=broker'],
      ['/depot/ui/v1/stats', undefined],
    ])
  })

  it('cannot be replaced by cookies of the server or the broker', async () => {
    await using explorer = await startExplorer((_request, response) => {
      response.writeHead(200, {
        'set-cookie': ['depot-session=evil', '__Host-depot-session=evil', '_session=fine; Path=/'],
      })
      response.end()
    })
    expect((await explorer.get('/broker/x')).headers['set-cookie']).toBe('_session=fine; Path=/')
    expect((await explorer.get('/depot/x')).headers).not.toHaveProperty('set-cookie')
    expect((await explorer.get('/-/api/stats')).headers).not.toHaveProperty('set-cookie')
  })
})

describe('headers', () => {
  /** The largest session, with other headers that a browser and a company's gateway send. */
  const large = {
    cookie: `depot-session=${'a'.repeat(3800)}; depot-session.1=${'b'.repeat(3800)}; _broker=${'c'.repeat(4000)}`,
    'x-forwarded-client-cert': 'd'.repeat(20 * 1024),
  }

  it.each(['/stats', '/-/api/stats', '/depot/x', '/broker/x', '/robots.txt'])(
    'are accepted up to 32 KiB at %s',
    async (path) => {
      await using explorer = await startExplorer()
      expect((await explorer.get(path, large)).status).toBe(200)
    },
  )

  it('are refused if they are too large, and the next request is served', async () => {
    await using explorer = await startExplorer()
    expect((await explorer.get('/stats', { 'x-much': 'a'.repeat(100 * 1024) })).status).toBe(431)
    expect((await explorer.get('/stats')).status).toBe(200)
  })
})

describe("the app's route to the API", () => {
  it('answers only for this reader, and only to this origin', async () => {
    await using explorer = await startExplorer()
    const { status, headers, text } = await explorer.get('/-/api/resources?page=2')
    expect([status, text]).toEqual([200, '{"items":[]}'])
    expect(headers).toMatchObject({
      etag: '"tag"',
      'cache-control': 'private, no-cache',
      vary: 'Cookie, Accept-Encoding, Sec-Fetch-Site',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    })
  })

  it.each([
    ['a server that compresses', true],
    ['a server that does not', false],
  ])('compresses answers of %s only for its own pages', async (_, compresses) => {
    const text = JSON.stringify({ items: Array.from({ length: 200 }, (_item, n) => ({ n })) })
    await using explorer = await startExplorer((request, response) => {
      const packs = compresses && request.headers['accept-encoding'] === 'gzip'
      const body = packs ? gzipSync(text) : Buffer.from(text)
      response.writeHead(200, {
        ...json,
        etag: '"tag"',
        'content-length': body.length,
        ...(packs && { 'content-encoding': 'gzip' }),
      })
      response.end(body)
    })
    const ask = (site: string) =>
      fetch(`${explorer.url}/-/api/stats`, { headers: { 'sec-fetch-site': site } })
    const own = await ask('same-origin')
    expect(own.headers.get('content-encoding')).toBe('gzip')
    expect(own.headers.get('etag')).toBe(compresses ? '"tag"' : 'W/"tag"')
    expect(await own.text()).toBe(text)
    for (const site of ['cross-site', 'same-site', 'none']) {
      const other = await ask(site)
      expect([other.headers.get('content-encoding'), await other.text()]).toEqual([null, text])
    }
  })

  it('forwards the entity tag of a known answer', async () => {
    await using explorer = await startExplorer((request, response) => {
      response.writeHead(request.headers['if-none-match'] === '"tag"' ? 304 : 200)
      response.end()
    })
    expect((await explorer.get('/-/api/stats', { 'if-none-match': '"tag"' })).status).toBe(304)
  })

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('refuses %s', async (method) => {
    await using explorer = await startExplorer()
    const { status, headers } = await explorer.send(method, '/-/api/stats')
    expect([status, headers['allow']]).toEqual([405, 'GET, HEAD'])
    expect(explorer.reached).toEqual([])
  })

  it('reaches nothing outside the API', async () => {
    await using explorer = await startExplorer()
    for (const path of ['/-/api/../../metrics', '/-/api/%2e%2e/%2e%2e/metrics', '/-/api']) {
      await explorer.get(path)
    }
    for (const { url } of explorer.reached) expect(url).toMatch(/^\/depot\/ui\/v1\//)
  })
})

const tookTooLong = { errors: ['the registry took too long: try again in a moment'] }

describe('a server that misbehaves', () => {
  it('is reported while it is unreachable, and works again when it returns', async () => {
    const gone = await listening((_request, response) => response.end())
    gone.stop()
    await using explorer = await startExplorer(undefined, { serverUrl: gone.url })
    expect((await explorer.get('/depot/x')).status).toBe(502)
    const api = await explorer.get('/-/api/stats')
    expect([api.status, JSON.parse(api.text)]).toEqual([
      502,
      { errors: ['the registry cannot be reached: try again in a moment'] },
    ])
    expect((await explorer.get('/stats')).status).toBe(503)
  })

  it.each([
    ['of a known length', { 'content-length': '1000' }],
    ['of unknown length', {}],
  ])('aborts its clients after it ends an answer too early %s', async (_, headers) => {
    await using explorer = await startExplorer((_request, response) => {
      response.writeHead(200, headers)
      response.write('the beginning', () => response.destroy())
    })
    await expect(explorer.get('/depot/x')).rejects.toThrow(/terminated|closed|aborted/)
  })

  it('gets 5 s to accept a connection, and 30 s for each next part of an answer', () => {
    expect(deadlines).toEqual({ connectMs: 5000, silentMs: 30_000 })
  })

  it.each(['/-/api/stats', '/depot/x'])(
    'times out if it accepts no connection, and %s says so',
    async (path) => {
      await using busy = await neverAccepting()
      await using explorer = await startExplorer(undefined, {
        serverUrl: busy.url,
        deadlines: { connectMs: 100, silentMs: 600_000 },
      })
      const { status, text } = await explorer.get(path)
      expect([status, JSON.parse(text)]).toEqual([504, tookTooLong])
    },
  )

  it('times out if it accepts a connection and sends nothing', async () => {
    await using explorer = await startExplorer(() => undefined, {
      deadlines: { connectMs: 600_000, silentMs: 100 },
    })
    const { status, text } = await explorer.get('/-/api/stats')
    expect([status, JSON.parse(text)]).toEqual([504, tookTooLong])
    expect(explorer.reached).toHaveLength(1)
  })

  it('aborts its client if its answer stalls', async () => {
    await using explorer = await startExplorer(
      (_request, response) => void response.writeHead(200).write('the beginning'),
      { deadlines: { connectMs: 600_000, silentMs: 100 } },
    )
    await expect(explorer.get('/depot/x')).rejects.toThrow(/terminated|closed|aborted/)
  })

  it('may take any time for an answer that keeps moving', async () => {
    const silentMs = 1500
    await using explorer = await startExplorer(
      (_request, response) => {
        const begin = performance.now()
        const more = setInterval(() => {
          response.write('.')
          if (performance.now() - begin < 2 * silentMs) return
          clearInterval(more)
          response.end('the end')
        }, 50)
      },
      { deadlines: { connectMs: 600_000, silentMs } },
    )
    expect((await explorer.get('/depot/x')).text).toMatch(/^\.+the end$/)
  })

  it('is told when a client disconnects', async () => {
    const gone = Promise.withResolvers<void>()
    await using explorer = await startExplorer((_request, response) => {
      response.on('close', () => gone.resolve())
      response.writeHead(200)
      response.write('the beginning')
    })
    const leaving = new AbortController()
    const answer = await fetch(`${explorer.url}/depot/x`, { signal: leaving.signal })
    await answer.body?.getReader().read()
    leaving.abort()
    await expect(gone.promise).resolves.toBeUndefined()
  })

  it('is asked again after it closed an idle connection', async () => {
    await using explorer = await startExplorer((request, response) => {
      response.end('fine')
      setImmediate(() => request.socket.destroy())
    })
    for (let n = 0; n < 20; n++) {
      expect((await sendTo(explorer.url, 'GET', '/depot/x')).text).toBe('fine')
    }
  })
})
