import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, get as httpGet, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as tlsConnect } from 'node:tls'
import { generate } from 'selfsigned'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { RunningServer } from '../../base/serving/serving.ts'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { Fixture } from './registry.fixture.ts'
import { type ServerOptions, startServer } from './server.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const anyPort = { host: '127.0.0.1', port: 0 }

async function start(options: Partial<ServerOptions> = {}, fixture = new Fixture()) {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', {
    write: (line) => {
      lines.push(JSON.parse(line) as Record<string, unknown>)
    },
  })
  const server = await startServer({
    listen: anyPort,
    adminListen: anyPort,
    catalog: fixture.catalog,
    archives: fixture.archives,
    log,
    metrics: fixture.metrics,
    waitingFor: () => [],
    ...options,
  })
  cleanups.push(
    () => fixture[Symbol.dispose](),
    () => server.stop(0),
  )
  return { fixture, server, lines }
}

const versions = '/depot/modules/v1/platform/vpc/aws/versions'
const archiveOf = async ({ url }: RunningServer, version: string) => {
  const response = await fetch(`${url}/depot/modules/v1/platform/vpc/aws/${version}/download`)
  return response.headers.get('x-terraform-get') ?? ''
}

describe('a request', () => {
  it('leaves one line in the log', async () => {
    const { fixture, server, lines } = await start()
    fixture.module('vpc')
    await fetch(`${server.url}${versions}?token=secret`, {
      headers: {
        'x-request-id': 'abc.1',
        'x-terraform-version': '1.11.4',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        authorization: 'Bearer s3cret',
      },
    })
    await vi.waitFor(() => expect(lines).toHaveLength(1))
    expect(lines[0]).toMatchObject({
      level: 'info',
      msg: 'request',
      component: 'http',
      requestId: 'abc.1',
      method: 'GET',
      route: '/depot/modules/v1/:namespace/:name/:system/versions',
      path: versions,
      status: 200,
      durationMs: expect.any(Number),
      bytes: expect.any(Number),
      terraformVersion: '1.11.4',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      remoteAddr: '127.0.0.1',
      namespace: 'platform',
      kind: 'Module',
      name: 'vpc',
    })
    expect(JSON.stringify(lines)).not.toMatch(/s3cret|token=/)
  })

  it.each(['', 'has blanks', 'x'.repeat(65), '"quoted"'])(
    'with the id %j gets another one',
    async (id) => {
      const { server } = await start()
      const response = await fetch(`${server.url}/nowhere`, { headers: { 'x-request-id': id } })
      expect(response.headers.get('x-request-id')).toMatch(/^[\w-]{8,64}$/)
      expect(response.headers.get('x-request-id')).not.toBe(id)
    },
  )

  it('is counted by its route, not by its path', async () => {
    const { fixture, server } = await start()
    fixture.module('vpc')
    await fetch(server.url + versions)
    await fetch(`${server.url}/whatever/${'x'.repeat(100)}`)
    await vi.waitFor(async () => {
      const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()
      expect(metrics).toMatch(
        /depot_http_request_duration_seconds_count\{.*route="\/depot\/modules\/v1\/:namespace\/:name\/:system\/versions".*\} 1/,
      )
      expect(metrics).toMatch(/depot_http_response_bytes_total\{route="none"\} [1-9]/)
      expect(metrics).toMatch(/depot_http_requests_in_flight\{route="none"\} 0/)
      expect(metrics).not.toContain('whatever')
    })
  })

  it.each([
    ['a malformed request line', 'GET\r\n\r\n', '400'],
    ['no Host header', 'GET / HTTP/1.1\r\n\r\n', '400'],
    [
      'a Host header that is not valid',
      'GET /depot/modules/v1/a/b/c/versions HTTP/1.1\r\nHost: a/b c\r\n\r\n',
      '400',
    ],
    [
      'headers that are too long',
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
      '431',
    ],
    ['an absolute URL of elsewhere', 'GET http://example.com/x HTTP/1.1\r\nHost: a\r\n\r\n', '404'],
  ])('with %s is refused', async (_, bytes, status) => {
    const { server } = await start()
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.end(bytes)
    const answer = await text(socket)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status}`))
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({ errors: [expect.any(String)] })
  })
})

describe('an error', () => {
  it('has its message in the status line too, because CLIs often print only that', async () => {
    const { server } = await start()
    const response = await fetch(`${server.url}/depot/modules/v1/plätform/vpc/aws/versions`)
    expect([response.status, response.statusText]).toEqual([
      404,
      expect.stringContaining('module pl?tform/vpc not found: check its namespace and name'),
    ])
  })
})

describe('the admin port', () => {
  it('says what the server waits for', async () => {
    let waiting = ['the manifests']
    const { fixture, server } = await start({ waitingFor: () => waiting })
    fixture.module('vpc')
    fixture.version('Module', 'vpc', '1.0.0')
    const ready = async () => {
      const response = await fetch(`${server.adminUrl}/readyz`)
      return [response.status, await response.text()]
    }
    expect((await fetch(`${server.adminUrl}/livez`)).status).toBe(200)
    expect(await ready()).toEqual([503, 'not ready: the manifests\n'])
    expect((await fetch(server.url + versions)).status).toBe(503)
    waiting = []
    expect(await ready()).toEqual([200, 'ok\n'])
    expect((await fetch(server.url + versions)).status).toBe(200)
  })
})

describe('an archive that is damaged', () => {
  it('aborts the connection, and the log says so', async () => {
    const { fixture, server, lines } = await start()
    fixture.module('vpc')
    fixture.version('Module', 'vpc', '1.0.0', { content: Buffer.alloc(2_000_000, 1) })
    const url = await archiveOf(server, '1.0.0')
    fixture.write('modules/vpc/vpc_1.0.0.zip', Buffer.alloc(2_000_000, 2))
    const response = await fetch(url)
    expect(response.headers.get('content-length')).toBe('2000000')
    await expect(response.arrayBuffer()).rejects.toThrow('terminated')
    await vi.waitFor(() =>
      expect(lines.at(-1)).toMatchObject({
        msg: 'request',
        aborted: true,
        remoteAddr: '127.0.0.1',
      }),
    )
  })
})

describe('stop', () => {
  const open = async (url: string, agent = new Agent()): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      httpGet(url, { agent }, resolve).once('error', reject)
    })

  it('lets running downloads finish', async () => {
    const { fixture, server } = await start()
    fixture.module('vpc')
    fixture.version('Module', 'vpc', '1.0.0', { content: Buffer.alloc(8_000_000, 7) })
    const url = await archiveOf(server, '1.0.0')
    const downloads = await Promise.all(Array.from({ length: 20 }, () => open(url)))
    const stopped = server.stop(20_000)
    const sizes = await Promise.all(
      downloads.map(async (download) => {
        let size = 0
        for await (const chunk of download) size += (chunk as Buffer).length
        return size
      }),
    )
    await stopped
    expect(new Set(sizes)).toEqual(new Set([8_000_000]))
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  })

  it('answers a request on an open connection, and then closes it', async () => {
    const { server } = await start()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const first = await open(server.url, agent)
    await text(first)
    const stopped = server.stop(20_000)
    const second = await open(server.url, agent)
    expect([second.statusCode, second.headers.connection]).toEqual([404, 'close'])
    await text(second)
    await stopped
  })

  it('turns readiness off', async () => {
    const { fixture, server } = await start()
    fixture.module('vpc')
    fixture.version('Module', 'vpc', '1.0.0', { content: Buffer.alloc(8_000_000, 7) })
    const download = await open(await archiveOf(server, '1.0.0'))
    const stopped = server.stop(20_000)
    expect((await fetch(`${server.adminUrl}/readyz`)).status).toBe(503)
    download.resume()
    await stopped
  })

  it('goes on answering during the shutdown delay', async () => {
    const { fixture, server } = await start({ shutdownDelayMs: 1500 })
    fixture.module('vpc')
    const stopped = server.stop(20_000)
    expect((await fetch(`${server.adminUrl}/readyz`)).status).toBe(503)
    const headers = { connection: 'close' }
    expect((await fetch(server.url + versions, { headers })).status).toBe(200)
    await stopped
    await expect(fetch(server.url + versions, { headers })).rejects.toThrow('fetch failed')
  })

  it('does not wait if it was never ready', async () => {
    const { server } = await start({ shutdownDelayMs: 3_600_000, waitingFor: () => ['resources'] })
    await expect(server.stop(20_000)).resolves.toBeUndefined()
  })

  it('cuts requests that outlast the grace period, and logs it', async () => {
    const { fixture, server, lines } = await start()
    fixture.module('vpc')
    fixture.version('Module', 'vpc', '1.0.0', { content: Buffer.alloc(30_000_000, 7) })
    const stuck = await open(await archiveOf(server, '1.0.0'))
    await server.stop(200)
    expect(lines.slice(-2)).toMatchObject([
      { msg: 'request', aborted: true },
      { level: 'warn', graceMs: 200 },
    ])
    await expect(text(stuck)).rejects.toThrow(/aborted|premature/i)
  })
})

describe('TLS', () => {
  const certificate = (dir: string, name: string) => {
    const [key, cert] = [join(dir, `${name}.key`), join(dir, `${name}.crt`)]
    const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1']
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '2',
        '-keyout',
        key,
        '-out',
        cert,
        ...subject,
      ],
      { stdio: 'ignore' },
    )
    return { certPath: cert, keyPath: key }
  }
  const servedName = async (url: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const port = Number(new URL(url).port)
      const socket = tlsConnect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN))
        socket.destroy()
      }).once('error', reject)
    })

  it('warns of a certificate that has expired, until a valid one is in its files', async () => {
    const fixture = new Fixture()
    const tls = certificate(fixture.dir, 'one')
    const valid = readFileSync(tls.certPath)
    const write = async (notAfterDate: Date) => {
      const { private: key, cert } = await generate([{ name: 'commonName', value: 'old' }], {
        notBeforeDate: new Date('2020-01-01'),
        notAfterDate,
      })
      writeFileSync(tls.certPath, cert)
      writeFileSync(tls.keyPath, key)
    }
    const validKey = readFileSync(tls.keyPath)
    await write(new Date('2020-02-01'))
    const { lines } = await start({ tls, tlsReloadMs: 20 }, fixture)
    const warnings = () =>
      lines.filter(({ msg }) => String(msg).startsWith('the certificate has expired')).length
    expect(warnings()).toBe(1)
    writeFileSync(tls.certPath, valid)
    writeFileSync(tls.keyPath, validKey)
    await vi.waitFor(() =>
      expect(lines).toContainEqual(expect.objectContaining({ msg: 'certificate reloaded' })),
    )
    expect(warnings()).toBe(1)
    // Expires while it is served.
    await write(new Date(Date.now() + 2000))
    await vi.waitFor(() => expect(warnings()).toBe(2))
  })

  it('serves a new certificate when the files change, and keeps the old one while they are broken', async () => {
    const fixture = new Fixture()
    const tls = certificate(fixture.dir, 'one')
    const other = certificate(fixture.dir, 'two')
    const { server, lines } = await start({ tls, tlsReloadMs: 20 }, fixture)
    expect(await servedName(server.url)).toBe('one')
    copyFileSync(other.certPath, tls.certPath)
    await vi.waitFor(() =>
      expect(lines).toContainEqual(
        expect.objectContaining({ msg: 'certificate not reloaded; the old one stays in use' }),
      ),
    )
    expect(await servedName(server.url)).toBe('one')
    copyFileSync(other.keyPath, tls.keyPath)
    await vi.waitFor(async () => expect(await servedName(server.url)).toBe('two'))
    const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()
    expect(metrics).toMatch(/depot_tls_certificate_expiry_timestamp_seconds 1\.?\d+e?\+?\d*/)
  })
})
