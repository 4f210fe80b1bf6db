import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startTunnel } from '../../../hack/testbed/server/tunnel.ts'
import {
  createUpstreamAuthority,
  type HttpsServer,
  serveHttps,
  type UpstreamAuthority,
} from '../../../hack/testbed/upstream/https-server.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { createMetrics } from '../../base/telemetry/telemetry.ts'
import { localEgress } from './egress.fixture.ts'
import { type Egress, EgressError, lastingText } from './egress.ts'

let authority: UpstreamAuthority
let other: HttpsServer
let server: HttpsServer
let dir: string
let answerWith: (path: string) => {
  status?: number
  headers?: Record<string, string>
  body?: string | Buffer
  hang?: boolean
  silent?: boolean
}
const opened: Egress[] = []
const { signal } = new AbortController()
const credential = { id: 'team', authorization: 'Bearer secret' }

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'depot-egress-'))
  authority = createUpstreamAuthority()
  other = await serveHttps(authority, 'other', (_incoming, outgoing) => outgoing.end('other'))
  server = await serveHttps(
    authority,
    'server',
    (incoming, outgoing) => {
      const answer = answerWith(incoming.url ?? '')
      const { status = 200, headers = {}, body = 'ok', hang, silent } = answer
      if (silent === true) return
      outgoing.writeHead(status, headers)
      if (hang === true) outgoing.write(body)
      else outgoing.end(body)
    },
    ['upstream.test'],
  )
})
afterEach(async () => {
  server.seen.length = 0
  other.seen.length = 0
  await Promise.all(opened.splice(0).map((egress) => egress.close()))
})
afterAll(async () => {
  await Promise.all([server.close(), other.close()])
  authority.remove()
  rmSync(dir, { recursive: true, force: true })
})

function open(options: Parameters<typeof localEgress>[2] = {}): Egress {
  const egress = localEgress([server.host, other.host], authority.ca, options)
  opened.push(egress)
  return egress
}

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: unknown) => (error instanceof EgressError ? error.reason : error),
  )

describe('a request', () => {
  it('sends credential, headers and body to an allowed host', async () => {
    answerWith = () => ({ headers: { etag: '"1"' }, body: 'hello' })
    const answer = await open().request(`${server.origin}/a?b=c`, {
      credential,
      headers: { accept: 'text/plain' },
      signal,
    })
    expect([answer.status, answer.body.toString(), answer.header('etag')]).toEqual([
      200,
      'hello',
      '"1"',
    ])
    expect(server.seen).toMatchObject([
      { url: '/a?b=c', headers: { authorization: 'Bearer secret', accept: 'text/plain' } },
    ])
  })

  it('aborts a body that is too large, pauses too long, or takes too long', async () => {
    answerWith = () => ({ body: 'x'.repeat(100) })
    const request = (options: object) => open().request(`${server.origin}/`, { signal, ...options })
    expect(await reasonOf(request({ maxBytes: 99 }))).toBe('TooLarge')
    answerWith = () => ({ hang: true })
    expect(await reasonOf(request({ deadlineMs: 300 }))).toBe('Timeout')
    const into = async () => join(dir, 'silent')
    const silent = open().download(`${server.origin}/`, { signal, into, maxBytes: 9, stallMs: 300 })
    expect(await reasonOf(silent)).toBe('Timeout')
  })

  it('reports a host that takes the connection and says nothing, whoever set the deadline', async () => {
    answerWith = () => ({ silent: true })
    const egress = open()
    const ask = (options: object) => egress.request(`${server.origin}/`, { signal, ...options })
    expect(await reasonOf(ask({ deadlineMs: 500 }))).toBe('Timeout')
    expect(await reasonOf(ask({ signal: AbortSignal.timeout(500) }))).toBe('Timeout')
    expect(await reasonOf(ask({ deadlineMs: 500 }))).toBe('Timeout')
    expect(await reasonOf(ask({}))).toBe('Unreachable')
    expect(server.seen).toHaveLength(3)
  })

  it('ends with the reason of its signal', async () => {
    answerWith = () => ({ hang: true })
    const abort = new AbortController()
    const request = open().request(`${server.origin}/`, { signal: abort.signal })
    abort.abort(new Error('stopping'))
    await expect(request).rejects.toThrow('stopping')
  })

  it('trusts only the usual authorities and the given one', async () => {
    answerWith = () => ({})
    const unknown = open({ ca: undefined })
    const url = `${server.origin}/`
    await expect(unknown.request(url, { signal })).rejects.toThrow(
      /cannot be reached: [^;]+: an unknown authority signed its certificate\. Name the file of the authority in NODE_EXTRA_CA_CERTS/,
    )
    expect((await unknown.request(url, { signal, ca: authority.ca })).status).toBe(200)
    expect(await reasonOf(unknown.request(url, { signal }))).toBe('Unreachable')
  })

  it('says that a port does not speak TLS', async () => {
    const plain = createServer((_, response) => response.end('plain')).listen(0, '127.0.0.1')
    await once(plain, 'listening')
    const host = `127.0.0.1:${(plain.address() as AddressInfo).port}`
    const egress = localEgress([host], authority.ca)
    opened.push(egress)
    await expect(egress.request(`https://${host}/`, { signal })).rejects.toThrow(
      `https://${host}/ cannot be reached: the port does not speak TLS`,
    )
    plain.close()
  })

  it('appears in errors without query and userinfo', async () => {
    const request = open().request('https://me:pass@example.com/a?token=secret', { signal })
    await expect(request).rejects.toThrow('https://example.com/a is refused')
    await expect(request).rejects.not.toThrow(/secret|pass/)
  })
})

describe('a redirect', () => {
  const redirectTo = (location: string) => {
    answerWith = (path) => (path === '/end' ? {} : { status: 302, headers: { location } })
    return open().request(`${server.origin}/begin`, { signal, credential })
  }

  it('is followed, with the credential only on the same host', async () => {
    await redirectTo('/end')
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer secret',
      'Bearer secret',
    ])
    const answer = await redirectTo(`${other.origin}/x`)
    expect(answer.url.href).toBe(`${other.origin}/x`)
    expect(other.seen.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  it('does not send the credential again when it returns to the first host', async () => {
    answerWith = (path) =>
      path === '/end'
        ? {}
        : { status: 302, headers: { location: `https://127.0.0.1:${server.port}/end` } }
    const egress = localEgress([server.host, `127.0.0.1:${server.port}`], authority.ca)
    opened.push(egress)
    await egress.request(`${server.origin}/begin`, { signal, credential })
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer secret',
      undefined,
    ])
  })

  it.each([
    ['http://localhost/x', 'EgressRefused'],
    ['https://169.254.169.254/latest/meta-data/', 'EgressRefused'],
    ['file:///etc/passwd', 'EgressRefused'],
    ['https://', 'BadRedirect'],
    ['/begin', 'BadRedirect'],
  ])('to %s is not', async (location, reason) => {
    expect(await reasonOf(redirectTo(location))).toBe(reason)
  })

  it('is followed five times at most', async () => {
    await reasonOf(redirectTo('/begin'))
    expect(server.seen.length).toBe(6)
  })
})

describe('a download', () => {
  it('is written to a file and hashed meanwhile', async () => {
    const body = Buffer.alloc(3_000_000, 'depot')
    answerWith = () => ({ headers: { 'content-length': String(body.length) }, body })
    let announced: number | undefined
    const file = join(dir, 'large')
    const { sizeBytes, sha256 } = await open().download(`${server.origin}/`, {
      signal,
      maxBytes: 3_000_000,
      into: async (bytes) => {
        announced = bytes
        return file
      },
    })
    expect([sizeBytes, sha256]).toEqual([
      3_000_000,
      createHash('sha256').update(body).digest('hex'),
    ])
    expect([readFileSync(file).equals(body), announced]).toEqual([true, 3_000_000])
  })

  it.each([
    ['announces', { 'content-length': '50' }],
    ['only turns out to have', { 'transfer-encoding': 'chunked' }],
  ])('is aborted if it %s too much', async (what, headers) => {
    answerWith = () => ({ headers, body: 'x'.repeat(50) })
    const file = join(dir, what)
    const into = async () => file
    const download = open().download(`${server.origin}/`, { signal, maxBytes: 49, into })
    expect(await reasonOf(download)).toBe('TooLarge')
    expect(existsSync(file)).toBe('transfer-encoding' in headers)
  })

  it('requires status 200 and a writable file', async () => {
    answerWith = (path) => ({ status: path === '/gone' ? 404 : 200 })
    const into = async () => join(dir, 'missing', 'file')
    const download = (path: string) =>
      open().download(`${server.origin}${path}`, { signal, maxBytes: 9, into })
    await expect(download('/gone')).rejects.toMatchObject({ reason: 'BadStatus', status: 404 })
    expect(await reasonOf(download('/'))).toBe('DiskFailed')
  })

  it('may come from any public host that an upstream names if the policy allows it, but never from a private one', async () => {
    answerWith = () => ({})
    const into = async () => join(dir, 'named')
    const request = { signal, maxBytes: 9, into, namedByUpstream: true }
    const url = `https://upstream.test:${server.port}/`
    await expect(open().download(url, request)).rejects.toThrow(
      'its address 127.0.0.1 is not public (loopback); an operator can allow it with --egress-allow',
    )
    const policy = {
      hosts: [server.host],
      privateNetworks: ['127.0.0.0/8'],
      publicDownloads: false,
    }
    await expect(open({ policy }).download(url, request)).rejects.toThrow(
      'allow it with --egress-allow=upstream.test:',
    )
    expect(server.seen).toEqual([])
  })
})

describe('addresses', () => {
  it('are checked at each connection, so a changed DNS answer does not help an attacker', async () => {
    const answers = [
      ['127.0.0.1'],
      ['127.0.0.1', '10.0.0.1'],
      ['169.254.169.254'],
      ['::ffff:10.0.0.1'],
      [],
    ]
    let asked = 0
    const egress = open({ resolve: async () => answers[asked++] ?? [] })
    const get = async (headers = {}) =>
      reasonOf(egress.request(`${server.origin}/`, { signal, headers }))
    answerWith = () => ({ headers: { connection: 'close' } })
    expect([await get(), await get(), await get(), await get(), await get()]).toEqual([
      'answered',
      'EgressRefused',
      'EgressRefused',
      'EgressRefused',
      'Unreachable',
    ])
    expect([asked, server.seen.length]).toEqual([5, 1])
  })

  it('are given to git for its connections', async () => {
    const egress = open()
    expect(await egress.routeTo(`${server.origin}/x.git`)).toEqual({
      addresses: ['127.0.0.1'],
      ca: authority.ca,
    })
    const named = { namedByUpstream: true }
    expect(await reasonOf(egress.routeTo('https://internal.test/x.git'))).toBe('EgressRefused')
    expect(await reasonOf(egress.routeTo('https://internal.test/x.git', named))).toBe(
      'EgressRefused',
    )
    const environment = { HTTPS_PROXY: 'http://proxy.test:3128' }
    expect(await open({ environment }).routeTo('https://public.test/x', named)).toMatchObject({
      proxyUrl: 'http://proxy.test:3128/',
    })
  })

  it('are resolved by a proxy, which cannot read the traffic', async () => {
    answerWith = () => ({ body: 'through the proxy' })
    const tunnel = await startTunnel(server.origin)
    const egress = localEgress(['upstream.test'], authority.ca, {
      environment: { HTTPS_PROXY: tunnel.url },
      resolve: () => Promise.reject(new Error('looked up here')),
    })
    opened.push(egress)
    const answer = await egress.request('https://upstream.test/', { signal })
    expect(answer.body.toString()).toBe('through the proxy')
    await egress.close()
    tunnel.close()
  })

  it('are not checked if a proxy connects, but hosts are', async () => {
    const egress = open({ environment: { HTTPS_PROXY: 'http://127.0.0.1:1' } })
    expect(await reasonOf(egress.request('https://example.com/', { signal }))).toBe('EgressRefused')
    const literal = egress.request('https://10.0.0.1/', { signal, namedByUpstream: true })
    expect(await reasonOf(literal)).toBe('EgressRefused')
  })
})

describe('limits of a host', () => {
  const nowMs = 1_800_000_000_000
  const get = (egress: Egress, options: object = {}) =>
    egress.request(`${server.origin}/`, { signal, ...options })
  const untilOf = (work: Promise<unknown>) =>
    work.then(
      () => 'answered',
      (error: unknown) =>
        error instanceof EgressError && error.reason === 'RateLimited' ? error.retryAfterMs : error,
    )

  it.each([
    [429, { 'retry-after': '120' }, 120_000],
    [429, {}, 60_000],
    [429, { 'retry-after': '99999999' }, 3_600_000],
    [403, { 'retry-after': '5' }, 5_000],
    [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1800000090' }, 90_000],
    [503, { 'retry-after': '7' }, 7_000],
  ])(
    'status %i with %j is waited for by all requests of the credential',
    async (status, headers, waitMs) => {
      answerWith = () => ({ status, headers })
      const egress = open({ clock: () => nowMs })
      expect(await untilOf(get(egress, { credential }))).toBe(waitMs)
      answerWith = () => ({})
      expect(await untilOf(get(egress, { credential, urgent: true }))).toBe(waitMs)
      expect(server.seen.length).toBe(1)
      expect(await untilOf(get(egress))).toBe('answered')
    },
  )

  it('have a text without the time and the words of the host', async () => {
    answerWith = () => ({ status: 429, body: '{"message":"slow (down) \\"id\\" 17"}' })
    const egress = open({ clock: () => nowMs })
    const first = await get(egress).then(() => '', messageOf)
    expect(first).toMatch(/ limits requests until 2027-01-15T08:01:00Z \(status 429: ".*"\)$/)
    expect(lastingText(`${first}; give a token`)).toBe(
      `${server.host} limits requests; give a token`,
    )
  })

  it('may be named in text only; other refusals are answers', async () => {
    answerWith = () => ({ status: 403, body: 'You have exceeded a secondary rate limit.' })
    const egress = open({ clock: () => nowMs })
    expect(await untilOf(get(egress))).toBe(60_000)
    answerWith = () => ({ status: 403, body: 'Resource not accessible' })
    const answer = await get(egress, { credential })
    expect([answer.status, answer.body.toString()]).toEqual([403, 'Resource not accessible'])
    answerWith = () => ({ status: 403, body: `rate limit ${'x'.repeat(100_000)}` })
    expect((await get(egress, { credential })).status).toBe(403)
  })

  it('reserve the last tenth for requests that a person waits for', async () => {
    const headers = {
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '9',
      'x-ratelimit-reset': '1800000090',
    }
    answerWith = () => ({ headers })
    const metrics = createMetrics({ version: 'test' })
    let clockMs = nowMs
    const egress = open({ clock: () => clockMs, metrics })
    expect(await untilOf(get(egress))).toBe('answered')
    expect(await untilOf(get(egress))).toBe(90_000)
    expect(await untilOf(get(egress, { urgent: true }))).toBe('answered')
    expect(await metrics.metrics()).toContain(`depot_ratelimit_remaining{host="${server.host}"} 9`)
    clockMs += 90_001
    expect(await untilOf(get(egress))).toBe('answered')
  })
})
