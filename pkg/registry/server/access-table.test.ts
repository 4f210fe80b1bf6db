import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Auth } from '../auth/auth.ts'
import { issuerKey, oidcOptions, TestIssuer } from '../auth/issuer.fixture.ts'
import { AccessFixture, asToken, kubeconfigOf, TestCluster } from './access.fixture.ts'
import type { App } from './app.ts'

type Routes = App['routes']

/*
 * Every mode, every kind of credentials, every kind of route: what is answered. The answers are those of the real app; what
 * they must be is said by `expected` below, and the table that operators read in docs/authentication.md is made of them.
 */

const fixture = new AccessFixture()
const issuer = await TestIssuer.start()
const cluster = await TestCluster.start()
afterAll(() => {
  fixture[Symbol.dispose]()
  issuer.stop()
  cluster.stop()
})

fixture.publicNamespace('platform')
const labels = { 'depot.internal/public': 'true' }
fixture.module('vpc-core')
fixture.version('Module', 'vpc-core', '1.0.0')
fixture.module('secret')
fixture.version('Module', 'secret', '1.0.0')
fixture.add(
  'Module',
  'open',
  { spec: { moduleConfig: { storageConfig: { fileSystem: { directoryPath: 'modules' } } } } },
  { labels },
)
fixture.version('Module', 'open', '1.0.0')
fixture.provider('tool')
const platform = { operatingSystem: 'linux', architecture: 'amd64' }
const toolSha256 = fixture.version('Provider', 'tool', '1.0.0', { spec: platform })
fixture.bind('platform', {
  expression: '"platform" in groups',
  moduleResources: ['vpc-*', 'none'],
  providerResources: ['*'],
})
fixture.bind('machine', {
  expression: '"client:ci" in groups',
  moduleResources: ['vpc-*', 'none'],
  providerResources: ['*'],
})
// Asked last, and only by those whom no other binding knows.
fixture.bind('zz-broken', { expression: '"crash" in groups ? groups[99] == "" : false' })

const modules = '/depot/modules/v1/platform'
const tool = '/depot/providers/v1/platform/tool/1.0.0'
const routes = {
  discovery: '/.well-known/terraform.json',
  'module, allowed': `${modules}/vpc-core/aws/versions`,
  'its download': `${modules}/vpc-core/aws/1.0.0/download`,
  'module, not allowed': `${modules}/secret/aws/versions`,
  'module, public': `${modules}/open/aws/versions`,
  'module that is not there': `${modules}/none/aws/versions`,
  'provider, allowed': `${tool}/download/linux/amd64`,
  'checksums, with digest': `${tool}/SHA256SUMS/linux/amd64?sha256=${toolSha256}`,
  'checksums, without': `${tool}/SHA256SUMS/linux/amd64`,
  'browse: list': '/depot/ui/v1/resources',
  'browse: allowed': '/depot/ui/v1/resources/platform/module/vpc-core',
  'browse: not allowed': '/depot/ui/v1/resources/platform/module/secret',
  whoami: '/depot/ui/v1/whoami',
} as const
type Route = keyof typeof routes

const tokens = {
  none: undefined,
  'no token at all, but some text': 'Bearer some-text',
  'user, a binding matches': await issuer.sign(),
  'user, no binding matches': await issuer.sign({ groups: ['others'] }),
  'user, a binding cannot be evaluated': await issuer.sign({ groups: ['crash'] }),
  'user, no groups claim': await issuer.sign({ groups: undefined }),
  'user, expired': await issuer.sign({ exp: 1000 }),
  'user, signed by another key': await issuer.sign({}, { key: await issuerKey('first') }),
  'user of the explorer': await issuer.sign({ aud: 'explorer' }),
  'program, a binding matches': await issuer.sign({ aud: 'ci', sub: 'ci', groups: undefined }),
  'program, no binding matches': await issuer.sign({ aud: 'x', sub: 'x', groups: undefined }),
  'service account, allowed': await issuer.sign({ iss: 'https://kubernetes.default.svc' }),
  'service account, forbidden': await issuer.sign({ iss: 'https://kubernetes', sub: 'b' }),
  'service account, unknown': await issuer.sign({ iss: 'https://kubernetes', sub: 'c' }),
  'kubeconfig, allowed': asToken(kubeconfigOf({ token: 'kube-allowed' })),
  'kubeconfig, forbidden': asToken(kubeconfigOf({ token: 'kube-forbidden' })),
  'kubeconfig with exec': asToken(kubeconfigOf({ exec: { command: 'sh' } })),
}
type TokenKind = keyof typeof tokens

const namespaced = '/apis/depot.internal/v1alpha1/namespaces/platform'
const mayRead = new Set([
  `${namespaced}/modules/vpc-core`,
  `${namespaced}/modules/open`,
  `${namespaced}/providers/tool`,
  `${namespaced}/versions?limit=1`,
  '/api',
])
const allowed = (path: string) =>
  mayRead.has(path) ? 200 : path === `${namespaced}/modules/none` ? 404 : 403
const forbidden = (path: string) => (path === '/api' ? 200 : 403)
cluster.tokens.set(tokens['service account, allowed'], allowed)
cluster.tokens.set(tokens['service account, forbidden'], forbidden)
cluster.tokens.set('kube-allowed', allowed)
cluster.tokens.set('kube-forbidden', forbidden)

const oidc = oidcOptions(issuer.url, { uiClientId: 'explorer', scopes: ['openid'] })
const passthrough = {
  apiGroup: 'depot.internal',
  address: () => Promise.resolve({ server: cluster.url, ca: cluster.ca }),
  ttlMs: 10_000,
}
const modes = {
  '`--anonymous-auth`': { mode: 'anonymous' },
  'kubeconfig (no flag)': { mode: 'kubeconfig', cluster: passthrough },
  '`--use-bearer-token`': { mode: 'bearer', cluster: passthrough },
  '`--oidc-issuer-url`, `--oidc-client-id`': { mode: 'oidc', oidc },
  'OIDC with `--anonymous-auth`': { mode: 'oidc', oidc: { ...oidc, allowGuests: true } },
  'OIDC with `--oidc-allow-client-credentials`': {
    mode: 'oidc',
    oidc: { ...oidc, allowClientCredentials: true },
  },
  'OIDC with `--oidc-allow-sa-fallback`': {
    mode: 'oidc',
    oidc: { ...oidc, allowFallback: true },
    cluster: passthrough,
  },
} as const
type Mode = keyof typeof modes

/** The standing of a token in one mode, by the specification. */
type Standing =
  | 'all'
  | 'bound'
  | 'unbound'
  | 'guest'
  | 'broken'
  | 'nobody'
  | 'no groups'
  | 'cluster: allowed'
  | 'cluster: forbidden'
  | 'cluster: unknown'

function standingOf(mode: Mode, token: TokenKind): Standing {
  const options = modes[mode]
  if (options.mode === 'anonymous') return 'all'
  if (options.mode === 'kubeconfig') {
    if (token === 'kubeconfig, allowed') return 'cluster: allowed'
    return token === 'kubeconfig, forbidden' ? 'cluster: forbidden' : 'nobody'
  }
  if (options.mode === 'bearer') {
    if (token === 'service account, allowed') return 'cluster: allowed'
    if (token === 'service account, forbidden') return 'cluster: forbidden'
    // Anything may be a token of the cluster; the cluster does not know these.
    return token === 'none' ? 'nobody' : 'cluster: unknown'
  }
  const { allowGuests, allowFallback, allowClientCredentials } = options.oidc
  if (token === 'none') return allowGuests ? 'guest' : 'nobody'
  if (token === 'user, a binding matches' || token === 'user of the explorer') return 'bound'
  if (token === 'user, no binding matches') return 'unbound'
  if (token === 'user, a binding cannot be evaluated') return 'broken'
  if (token === 'user, no groups claim') return 'no groups'
  if (token === 'program, a binding matches') return allowClientCredentials ? 'bound' : 'nobody'
  if (token === 'program, no binding matches') return allowClientCredentials ? 'unbound' : 'nobody'
  if (!allowFallback) return 'nobody'
  if (token === 'service account, allowed') return 'cluster: allowed'
  if (token === 'service account, forbidden') return 'cluster: forbidden'
  return token === 'service account, unknown' ? 'cluster: unknown' : 'nobody'
}

function expected(mode: Mode, token: TokenKind, route: Route): number {
  if (route === 'discovery' || route === 'checksums, with digest') return 200
  const found = route === 'its download' ? 204 : 200
  const standing = standingOf(mode, token)
  if (route === 'checksums, without') {
    return ['all', 'bound', 'cluster: allowed'].includes(standing) ? 200 : 404
  }
  const passesOn = modes[mode].mode === 'kubeconfig' || modes[mode].mode === 'bearer'
  const browses = route.startsWith('browse')
  // Browsing shows what is public there, to every caller.
  if (passesOn && browses) return route === 'browse: list' ? 200 : 404
  if (passesOn && route === 'whoami' && token === 'none') return 200
  if (standing === 'nobody' || standing === 'cluster: unknown') return 401
  if (standing === 'no groups') return 403
  if (route === 'whoami' || route === 'browse: list') {
    return standing === 'broken' && route === 'browse: list' ? 403 : 200
  }
  switch (standing) {
    case 'broken':
      return 403
    case 'all':
      return route === 'module that is not there' ? 404 : found
    case 'bound':
      if (route === 'module, not allowed' || route === 'browse: not allowed') return 404
      return route === 'module that is not there' ? 404 : found
    case 'unbound':
    case 'guest':
      if (browses) return 404
      return route === 'module, public' ? 200 : 403
    case 'cluster: allowed':
      if (browses) return 404
      if (route === 'module, not allowed') return 403
      return route === 'module that is not there' ? 404 : found
    case 'cluster: forbidden':
      return browses ? 404 : 403
    default:
      return standing
  }
}

const auths = new Map<Mode, Auth>()
const apps = new Map<Mode, Routes>()
beforeAll(async () => {
  await fixture.withSigner()
  for (const [mode, options] of Object.entries(modes) as [Mode, (typeof modes)[Mode]][]) {
    const auth = fixture.auth(options)
    await auth.started
    auths.set(mode, auth)
    apps.set(mode, fixture.app({ auth }))
  }
  return async () => {
    for (const auth of auths.values()) await auth.close()
  }
})

async function answerOf(mode: Mode, token: TokenKind, route: Route): Promise<number> {
  const text = tokens[token]
  const authorization = text?.startsWith('Bearer ') ? text : `Bearer ${text}`
  const headers = text === undefined ? {} : { authorization }
  const response = await apps.get(mode)?.request(routes[route], { headers })
  return response?.status ?? 0
}

const tokenKinds = Object.keys(tokens) as TokenKind[]
const routeNames = Object.keys(routes) as Route[]
const modeNames = Object.keys(modes) as Mode[]

it.each(modeNames.flatMap((mode) => tokenKinds.map((token) => ({ mode, token }))))(
  '$mode answers "$token" as the specification says',
  async ({ mode, token }) => {
    const answers: Partial<Record<Route, number>> = {}
    const expectations: Partial<Record<Route, number>> = {}
    for (const route of routeNames) {
      answers[route] = await answerOf(mode, token, route)
      expectations[route] = expected(mode, token, route)
    }
    expect(answers).toEqual(expectations)
  },
)

it('docs/authentication.md holds this table (UPDATE_DOCS=1 writes it)', () => {
  const file = join(import.meta.dirname, '../../../docs/authentication.md')
  const [begin, end] = ['<!-- generated: answers -->\n', '<!-- end of generated -->']
  const text = readFileSync(file, 'utf8')
  const [before = '', rest = ''] = text.split(begin)
  const [, after = ''] = rest.split(end)
  const wanted = `${before}${begin}${table()}${end}${after}`
  if (process.env['UPDATE_DOCS'] !== undefined) writeFileSync(file, wanted)
  expect(readFileSync(file, 'utf8')).toBe(wanted)
})

const isRest = (alike: readonly TokenKind[]) => alike.length > 6

function whoOf(alike: readonly TokenKind[]): string {
  if (alike.length === tokenKinds.length) return 'any, or none'
  if (!isRest(alike)) return alike.join('; ')
  return alike.includes('none') ? 'anything else, or none' : 'anything else'
}

/** Tokens with the same answers share a row. */
function table(): string {
  return modeNames
    .map((mode) => {
      const rows = Map.groupBy(tokenKinds, (token) =>
        routeNames.map((route) => expected(mode, token, route)).join(' | '),
      )
      return [
        `\n### ${mode}\n`,
        `| credentials | ${routeNames.join(' | ')} |`,
        `| --- |${' --- |'.repeat(routeNames.length)}`,
        ...Array.from(rows)
          .toSorted(([, one], [, other]) => Number(isRest(one)) - Number(isRest(other)))
          .map(([answers, alike]) => `| ${whoOf(alike)} | ${answers} |`),
        '',
      ].join('\n')
    })
    .join('')
}
