import { createHash } from 'node:crypto'
import { afterAll, afterEach, expect, it, vi } from 'vitest'
import type { Signer } from '../../archives/signing/signing.ts'
import { serve } from '../../base/serving/serving.ts'
import { createMetrics } from '../../base/telemetry/telemetry.ts'
import type { AuthOptions } from '../auth/auth.ts'
import { oidcOptions, TestIssuer } from '../auth/issuer.fixture.ts'
import { AccessFixture, asToken, kubeconfigOf, TestCluster } from './access.fixture.ts'
import { createApp } from './app.ts'
import { RawConnection } from './raw-connection.fixture.ts'

/*
 * Ready answers go out past the app. Two servers that know the same answer the same requests, one of them without ready
 * answers: what they send must not differ in a byte, whatever is asked, by every caller, and whatever changes in between.
 */

/** For each of five modes. Every run sends the same ones, unless the environment asks for others. */
const requestsPerMode = Number(process.env['DEPOT_EQUAL_REQUESTS'] ?? 1000)
const seedOfRun = Number(process.env['DEPOT_EQUAL_SEED'] ?? 7)
const issuer = await TestIssuer.start()
const cluster = await TestCluster.start()
afterEach(() => vi.unstubAllEnvs())
afterAll(() => {
  issuer.stop()
  cluster.stop()
})

/** The same numbers at every run (mulberry32). */
class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }

  of<T>(...values: readonly [T, ...T[]]): T {
    return values[this.below(values.length)] as T
  }

  /** True once in so many times. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }
}

const platform = (operatingSystem: string, architecture: string) => ({
  spec: { operatingSystem, architecture },
})

function fill(fixture: AccessFixture): void {
  const labels = { 'depot.internal/public': 'true' }
  fixture.publicNamespace('platform')
  fixture.bind('team', {
    expression: '"platform" in groups',
    moduleResources: ['vpc'],
    providerResources: ['*'],
  })
  for (const name of ['vpc', 'secret', 'any', 'ümlaut']) {
    fixture.module(name, name === 'any' ? { provider: undefined } : {})
    fixture.version('Module', name, '1.0.0')
    fixture.version('Module', name, '2.0.0')
  }
  fixture.add('Module', 'open', { spec: { moduleConfig: { provider: 'aws' } } }, { labels })
  fixture.provider('tool')
  for (const version of ['1.0.0', '1.1.0']) {
    fixture.version('Provider', 'tool', version, platform('linux', 'amd64'))
    fixture.version('Provider', 'tool', version, platform('darwin', 'arm64'))
  }
  fixture.provider('empty')
  fixture.add('Depot', 'main', { spec: {}, status: { modules: ['vpc', 'open'] } })
}

const changes: readonly ((fixture: AccessFixture) => void)[] = [
  (own) => own.version('Module', 'vpc', '3.0.0'),
  (own) =>
    own.catalog.apply({
      type: 'delete',
      kind: 'Version',
      namespace: 'platform',
      name: 'vpc-3.0.0',
    }),
  (own) => own.module('vpc', { repoUrl: 'https://git.example.com/vpc' }),
  (own) => own.module('vpc'),
  (own) => own.version('Provider', 'tool', '1.1.0', platform('linux', 'arm64')),
  (own) => own.provider('tool', { protocols: ['6.0'] }),
  (own) => own.bind('team', { expression: '"platform" in groups', moduleResources: ['*'] }),
  (own) => own.bind('team', { expression: '"platform" in groups', providerResources: ['tool'] }),
  (own) =>
    own.catalog.apply({ type: 'delete', kind: 'Module', namespace: 'platform', name: 'any' }),
  (own) => own.module('any', { provider: undefined }),
  (own) => own.module('vpc', { storageConfig: { fileSystem: { directoryPath: 'elsewhere' } } }),
  (own) => own.version('Module', 'vpc', '1.0.0', { content: 'replaced' }),
  (own) => own.version('Module', 'vpc', '1.0.0'),
]

const digestOf = (content: string) => createHash('sha256').update(content).digest('hex')

/** The URL that the download endpoint gives for a version of `vpc`, perhaps while it had another archive. */
function archiveUrl(version: string, content: string): string {
  return `/depot/modules/v1/download/fileSystem/modules/vpc/vpc_${version}.zip?fileChecksum=${digestOf(content)}&version=platform%2Fvpc-${version}`
}

function target(random: Random): string {
  const module = random.of('vpc', 'vpc', 'secret', 'open', 'any', 'none', 'ümlaut', '..', '')
  const system = random.of('aws', 'aws', 'aws', 'azure', '')
  const type = random.of('tool', 'tool', 'empty', 'none')
  const version = random.of('1.0.0', '1.1.0', 'v1.0.0', '9.9.9', 'x')
  const [os, arch] = random.of(['linux', 'amd64'], ['linux', 'amd64'], ['plan9', 'amd64'])
  const browse = `/depot/ui/v1/resources/platform/${random.of('module', 'provider', 'x')}/${random.of(module, type)}`
  const path = random.of(
    '/.well-known/terraform.json',
    `/depot/modules/v1/platform/${module}/${system}/versions`,
    `/depot/modules/v1/platform/${module}/${system}/versions`,
    `/v1/modules/platform/${module}/${system}/versions`,
    `/depot/modules/v1/platform/${module}/${system}/${version}/download`,
    `/depot/providers/v1/platform/${type}/versions`,
    `/depot/providers/v1/platform/${type}/${version}/download/${os}/${arch}`,
    `/depot/providers/v1/platform/${type}/${version}/download/${os}/${arch}`,
    `/depot/providers/v1/platform/${type}/${version}/SHA256SUMS/${os}/${arch}`,
    `/depot/providers/v1/platform/${type}/${version}/SHA256SUMS.sig/${os}/${arch}`,
    `/depot/providers/v1/platform/${type}/${version}/SHA256SUMS/${os}/${arch}?sha256=${digestOf(random.of('tool 1.0.0', 'other'))}`,
    archiveUrl('1.0.0', 'vpc 1.0.0'),
    archiveUrl('1.0.0', 'replaced'),
    archiveUrl('2.0.0', 'vpc 2.0.0'),
    '/depot/ui/v1/resources',
    '/depot/ui/v1/resources?page_size=2&page=2',
    '/depot/ui/v1/resources?q=v',
    browse,
    `${browse}/versions`,
    `${browse}/scan-findings`,
    '/depot/ui/v1/depots',
    '/depot/ui/v1/depots/graph',
    '/depot/ui/v1/stats',
    '/depot/ui/v1/namespaces',
    '/depot/ui/v1/openapi.json',
    '/nowhere',
  )
  const plain = Buffer.from(path).toString('latin1')
  if (!random.oneIn(6)) return plain
  return random.of(
    encodeURI(path),
    `${plain}/`,
    `${plain}${plain.includes('?') ? '&' : '?'}x=1`,
    `${plain}?`,
    `${plain}#part`,
    plain.replace('/v1/', '//v1/'),
    plain.replace('/v1/', '/./v1/'),
    plain.replace('/platform/', '/platform/../platform/'),
    plain.replace('p', '%70'),
    plain.toUpperCase(),
    `http://other.test${plain}`,
    `${plain}%00`,
    `${plain}%zz`,
    plain.slice(1),
  )
}

interface Asked {
  readonly method: string
  readonly text: string
}

/** A body, of which the headers say how long it is. */
function bodyOf(random: Random, headers: string[]): string {
  const text = random.of('', 'x', '{"a": 1}', 'GET / HTTP/1.1\r\n\r\n', 'x'.repeat(70_000))
  if (random.oneIn(2)) {
    headers.push(`Content-Length: ${text.length}`)
    return text
  }
  headers.push('Transfer-Encoding: chunked')
  return text === '' ? '0\r\n\r\n' : `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
}

/** A malformed request that looks mostly like a valid one: the parser of Node ends the connection. */
function malformed(random: Random, tokens: readonly string[]): string {
  const { text } = requestOf(random, tokens, [])
  const [line = '', ...headers] = text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n')
  const [method = '', url = ''] = line.split(' ')
  const request = (first: string, ...more: readonly string[]): string =>
    `${[first, ...headers.filter((header) => !/^(?:content|transfer|expect)/i.test(header)), ...more].join('\r\n')}\r\n\r\n`
  return random.of(
    request(`get ${url} HTTP/1.1`),
    request(`GET ${url} ${url} HTTP/1.1`),
    request(`${method} ${url} HTTP/9.9`),
    request(`${method} ${url} FTP/1.1`),
    request(`${method} ${url}\u0000 HTTP/1.1`),
    request(`${method} nowhere HTTP/1.1`),
    request(line, 'Name with blanks: x'),
    request(line, 'X-Nul: \u0000'),
    request(line, 'No colon'),
    request(line, 'Content-Length: 1', 'Content-Length: 2'),
    request(line, 'Content-Length: -1'),
    request(line, 'Content-Length: 1', 'Transfer-Encoding: chunked'),
    request(line, 'Transfer-Encoding: chunked') + random.of('x\r\n', '-1\r\n\r\n', '1\r\nab\r\n'),
    '\u0016\u0003\u0001\u0002\u0000\u0001',
    'hello\r\n\r\n',
  )
}

function requestOf(random: Random, tokens: readonly string[], etags: readonly string[]): Asked {
  const method = random.oneIn(12) ? random.of('HEAD', 'POST', 'OPTIONS', 'get') : 'GET'
  const headers: string[] = []
  const host = random.oneIn(10)
    ? random.of('127.1', 'Depot.test', 'a b', '[::1]:8080', 'depot.test:99999', 'x/y', '', 'ü')
    : random.of('depot.test', 'depot.test:8080', '127.0.0.1:8080')
  if (!random.oneIn(40)) headers.push(`Host: ${Buffer.from(host).toString('latin1')}`)
  const token = random.of('', ...tokens)
  if (token !== '') headers.push(`${random.of('Authorization', 'authorization')}: ${token}`)
  if (random.oneIn(60))
    headers.push(`Authorization: ${random.of('Basic eA==', 'Bearer', ...tokens)}`)
  if (random.oneIn(5)) {
    const etag = random.of('"unknown"', '*', ...etags)
    headers.push(`If-None-Match: ${random.of(etag, `W/${etag}`, `"a", ${etag}`)}`)
  }
  const id = random.below(1e6)
  headers.push(`X-Request-Id: ${id}`)
  const encodings = ['gzip', 'br, gzip;q=0.5', 'gzip;q=0'][id % 12]
  if (encodings !== undefined) headers.push(`Accept-Encoding: ${encodings}`)
  if (random.oneIn(30)) headers.push('X-Forwarded-Proto: https', 'X-Forwarded-Host: elsewhere.test')
  if (random.oneIn(10)) headers.push('User-Agent: Terraform/1.11.4', 'Accept: */*')
  if (random.oneIn(10)) headers.push(`Range: bytes=${random.of('0-3', '2-', '-1', '99-', 'x')}`)
  if (random.oneIn(60)) headers.push('Connection: keep-alive')
  if (random.oneIn(60)) headers.push('Expect: 100-nothing')
  const body = random.oneIn(12) ? bodyOf(random, headers) : ''
  const text = `${method} ${target(random)} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`
  return { method, text }
}

/** How callers come in each mode, and with which headers. */
async function modes(): Promise<
  Record<string, [Partial<AuthOptions> & Pick<AuthOptions, 'mode'>, string[]]>
> {
  const member = `Bearer ${await issuer.sign({ sub: 'ann', groups: ['platform'] })}`
  const stranger = `Bearer ${await issuer.sign({ sub: 'eve', groups: ['others'] })}`
  const oidc = oidcOptions(issuer.url)
  const passthrough = {
    apiGroup: 'depot.internal',
    address: () => Promise.resolve({ server: cluster.url, ca: cluster.ca }),
    ttlMs: 3_600_000,
  }
  cluster.tokens.set('reader', () => 200)
  cluster.tokens.set('other', (path) => (path.includes('vpc') || path === '/api' ? 200 : 403))
  const kubeconfig = (token: string): string =>
    `Bearer ${asToken(kubeconfigOf({ token }, { server: cluster.url, 'certificate-authority-data': Buffer.from(cluster.ca).toString('base64') }))}`
  return {
    anonymous: [{ mode: 'anonymous' }, ['Bearer x']],
    oidc: [{ mode: 'oidc', oidc }, [member, member, stranger, 'Bearer x']],
    'oidc with guests': [
      { mode: 'oidc', oidc: { ...oidc, allowGuests: true } },
      [member, stranger, 'Bearer x'],
    ],
    bearer: [
      { mode: 'bearer', cluster: passthrough },
      ['Bearer reader', 'Bearer reader', 'Bearer other', 'Bearer x'],
    ],
    kubeconfig: [
      { mode: 'kubeconfig', cluster: passthrough },
      [kubeconfig('reader'), kubeconfig('reader'), kubeconfig('other'), 'Bearer x'],
    ],
  }
}

const anyPort = { host: '127.0.0.1', port: 0 }

/** A registry of its own behind a port; the key is shared, because two signatures of one text differ by their time. */
async function start(
  options: Pick<AuthOptions, 'mode'> & Partial<AuthOptions>,
  signer: Signer | undefined,
  withReadyAnswers: boolean,
) {
  const fixture = new AccessFixture()
  fill(fixture)
  const ownSigner = signer ?? (await fixture.withSigner())
  const auth = fixture.auth(options)
  await auth.started
  const clock = () => Date.UTC(2026)
  const app = createApp({
    catalog: fixture.catalog,
    archives: fixture.archives,
    log: fixture.log,
    signer: ownSigner,
    auth,
    clock,
  })
  let ready = 0
  let readyArchives = 0
  const server = await serve({
    fetch: app.routes.fetch,
    ...(withReadyAnswers && {
      hot(request) {
        const answer = app.hot(request)
        if (answer !== undefined) ready += 1
        if (answer?.facts.route.includes('/download/fileSystem/')) readyArchives += 1
        return answer
      },
    }),
    listen: anyPort,
    adminListen: anyPort,
    log: fixture.log,
    metrics: createMetrics({ version: 'test' }),
    waitingFor: () => [],
  })
  const connection = new RawConnection(Number(new URL(server.url).port))
  return {
    fixture,
    signer: ownSigner,
    connection,
    readyAnswers: () => ready,
    readyArchives: () => readyArchives,
    async stop() {
      connection.close()
      await server.stop(0)
      await auth.close()
      fixture[Symbol.dispose]()
    },
  }
}

/**
 * Requests that the parser of Node accepts. If it refuses one, it ends the connection, and which of the earlier answers
 * arrive is a matter of luck: such requests are left to the tests of the listener.
 */
const isParsed = /^(?:GET|HEAD|POST|OPTIONS) (?:\/|http:)[!-~]* HTTP/

const etagOf = (text: string): string | undefined => /\r\nETag: ([^\r]+)/.exec(text)?.[1]

const all = Object.entries(await modes())

it.each([
  ...all.map(([name, mode]) => [name, '0', mode] as const),
  ...all.map(([name, mode]) => [name, '1', mode] as const),
])(
  'ready answers are byte for byte those of the app (%s, DEPOT_PLAIN=%s)',
  { timeout: 300_000 },
  async (_, plain, [options, tokens]) => {
    vi.stubEnv('DEPOT_PLAIN', plain)
    const random = new Random(seedOfRun)
    const hot = await start(options, undefined, true)
    const cold = await start(options, hot.signer, false)
    const etags: string[] = []
    let sent = 0
    try {
      while (sent < requestsPerMode) {
        const change = random.oneIn(3)
          ? random.of(...(changes as [(typeof changes)[number]]))
          : undefined
        for (const { fixture } of [hot, cold]) change?.(fixture)
        const made = Array.from({ length: 1 + random.below(60) }, () =>
          requestOf(random, tokens, etags.slice(-20)),
        )
        const odd = made.find(({ text }) => !isParsed.test(text))
        const requests = odd === undefined ? made : []
        const [answers, expected] = await Promise.all(
          [hot, cold].map(({ connection }) => connection.send(requests)),
        )
        expect({ requests, answers }).toEqual({ requests, answers: expected })
        for (const { text } of expected ?? []) {
          const etag = etagOf(text)
          if (etag !== undefined) etags.push(etag)
        }
        sent += expected?.length ?? 0
        const text = malformed(random, tokens)
        const [answer, due] = await Promise.all(
          [hot, cold].map(({ connection }) => connection.sendLast(text)),
        )
        expect({ text, answer }).toEqual({ text, answer: due })
        sent += 1
      }
      expect(hot.readyAnswers()).toBeGreaterThan(requestsPerMode / 10)
      expect(hot.readyArchives()).toBeGreaterThanOrEqual(requestsPerMode / 200)
    } finally {
      await hot.stop()
      await cold.stop()
    }
  },
)
