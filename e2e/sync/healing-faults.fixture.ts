import type { Fault } from '../../hack/testbed/upstream/faults.ts'
import { RegistryError, unavailable } from '../../pkg/base/errors/errors.ts'
import { ApiError } from '../../pkg/records/store/store.ts'
import { addresses, type HealingUpstreams } from './healing-upstreams.fixture.ts'
import type { SourceKind, World } from './healing-world.fixture.ts'

/** A kind of request between a tag and a stored archive. */
export interface Route {
  readonly name: string
  readonly source: SourceKind
  readonly server?: 'github' | 'git' | 'registry'
  /** @param name of the world */
  readonly path?: (name: string) => string
  /** The host, if this is the first request to it. */
  readonly hostname?: string
  /** The shape of its answer. */
  readonly sends?:
    | 'tags'
    | 'versions'
    | 'package'
    | 'sums'
    | 'signature'
    | 'archive'
    | 'nothing'
    | 'other'
}

export const routes: readonly Route[] = [
  {
    name: 'tags of GitHub',
    source: 'github',
    server: 'github',
    path: (name) => `/repos/acme/${name}/tags`,
    hostname: 'api.test',
    sends: 'tags',
  },
  {
    name: 'an archive of GitHub, the redirect',
    source: 'github',
    server: 'github',
    path: (name) => `/repos/acme/${name}/tarball`,
    sends: 'nothing',
  },
  {
    name: 'an archive of GitHub',
    source: 'github',
    server: 'github',
    path: (name) => `/acme/${name}/legacy`,
    hostname: 'codeload.test',
    sends: 'archive',
  },
  {
    name: 'refs of git',
    source: 'git',
    server: 'git',
    path: (name) => `/acme/${name}.git/info/refs`,
    hostname: 'git.test',
    sends: 'other',
  },
  {
    name: 'objects of git',
    source: 'git',
    server: 'git',
    path: (name) => `/acme/${name}.git/git-upload-pack`,
    sends: 'other',
  },
  {
    name: 'discovery of a registry',
    source: 'registry',
    server: 'registry',
    path: () => '/.well-known/',
    hostname: 'registry.test',
    sends: 'other',
  },
  {
    name: 'versions of a module',
    source: 'registry',
    server: 'registry',
    path: (name) => `/v1/modules/acme/${name}/aws/versions`,
    sends: 'versions',
  },
  {
    name: 'the place of a module',
    source: 'registry',
    server: 'registry',
    path: (name) => `/v1/modules/acme/${name}/aws/1`,
    sends: 'nothing',
  },
  {
    name: 'an archive of a module',
    source: 'registry',
    server: 'registry',
    path: (name) => `/modules/acme-${name}-aws`,
    hostname: 'downloads.test',
    sends: 'archive',
  },
  {
    name: 'an archive at a URL',
    source: 'archive',
    server: 'registry',
    path: (name) => `/modules/acme-${name}-aws`,
    hostname: 'downloads.test',
    sends: 'archive',
  },
  {
    name: 'versions of a provider',
    source: 'provider',
    server: 'registry',
    path: (name) => `/v1/providers/${name}/tls/versions`,
    hostname: 'registry.test',
    sends: 'versions',
  },
  {
    name: 'the package of a provider',
    source: 'provider',
    server: 'registry',
    path: (name) => `/v1/providers/${name}/tls/1`,
    sends: 'package',
  },
  {
    name: 'SHA256SUMS of a provider',
    source: 'provider',
    server: 'registry',
    path: () => '/providers/.*_SHA256SUMS(?!.sig)',
    hostname: 'downloads.test',
    sends: 'sums',
  },
  {
    name: 'the signature of a provider',
    source: 'provider',
    server: 'registry',
    path: () => '/providers/.*_SHA256SUMS.sig',
    sends: 'signature',
  },
  {
    name: 'an archive of a provider',
    source: 'provider',
    server: 'registry',
    path: () => '/providers/.*.zip',
    sends: 'archive',
  },
]

/** A fault outside of Depot, on a route. */
export interface RouteFault {
  readonly name: string
  readonly fits: (route: Route) => boolean
  /** @returns a function that ends it */
  readonly begin: (world: World, route: Route, upstreams: HealingUpstreams) => () => void
  /** The delay that the host asks for, which is part of the fault. */
  readonly lastsMs?: number
  /** Every attempt takes until a deadline. */
  readonly isSlow?: boolean
}

const everywhere: RouteFault['fits'] = ({ path }) => path !== undefined

function answering(name: string, fault: Fault, fits: RouteFault['fits'] = everywhere): RouteFault {
  return {
    name,
    fits,
    begin(world, { path = String, server = 'github' }, upstreams) {
      return upstreams[server].faults.on(new RegExp(path(world.name)), (given) => {
        world.hits += 1
        return typeof fault === 'function' ? fault(given) : fault
      })
    },
  }
}

const hasBody: RouteFault['fits'] = ({ server, sends }) =>
  server !== undefined && sends !== 'nothing'

/** git waits for the rest of a damaged answer. */
const damaging = (name: string, fault: Fault): RouteFault[] => [
  answering(name, fault, (route) => hasBody(route) && route.server !== 'git'),
  slow(answering(name, fault, (route) => route.server === 'git')),
]

const refusing = (status: number, headers: Record<string, string> = {}): RouteFault =>
  answering([status, ...Object.keys(headers)].join(' with '), () => ({
    status,
    headers,
    body: Buffer.from(`status ${status}`),
  }))

/** Answers with other JSON. */
const json = (
  name: string,
  sends: Route['sends'],
  change: (value: Record<string, unknown>) => unknown,
): RouteFault =>
  answering(
    name,
    (given) => {
      const value = JSON.parse(given.body.toString() || '{}') as Record<string, unknown>
      const { etag: _, ...headers } = given.headers
      return { ...given, headers, body: Buffer.from(JSON.stringify(change(value))) }
    },
    (route) => route.sends === sends,
  )

const connecting = (name: string, address: string | Error): RouteFault => ({
  name,
  fits: ({ hostname }) => hostname !== undefined,
  begin(world, { hostname = '' }, upstreams) {
    world.addresses.set(hostname, address)
    return () => {
      world.addresses.delete(hostname)
      upstreams.closeSilent()
    }
  },
})

const waiting = { 'retry-after': '120' }
const slow = (fault: RouteFault): RouteFault => ({ ...fault, isSlow: true })
const limiting = (fault: RouteFault): RouteFault => ({ ...fault, lastsMs: 121_000 })
const listings = (keep: number) => (value: Record<string, unknown>) => {
  const cut = (all: unknown) => (Array.isArray(all) ? all.slice(0, keep) : all)
  const { modules, versions } = value as { modules?: { versions: unknown[] }[]; versions?: unknown }
  if (modules !== undefined)
    return { modules: modules.map((one) => ({ versions: cut(one.versions) })) }
  return { versions: cut(versions) }
}
const without = (field: string) => (value: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== field))
const asArray = (change: (all: unknown[]) => unknown[]) => (value: unknown) =>
  change(Array.isArray(value) ? value : [])

export const faults: readonly RouteFault[] = [
  ...[400, 401, 403, 404, 410, 500, 502, 503].map((status) => refusing(status)),
  limiting(refusing(429)),
  ...[403, 429, 503].map((status) => limiting(refusing(status, waiting))),
  answering('a redirect to a strange host', () => ({
    status: 302,
    headers: { location: 'https://strange.test/' },
  })),
  answering('a redirect to itself', () => ({ status: 302, headers: { location: '?again' } })),
  answering('a redirect to nowhere', () => ({ status: 302, headers: { location: 'http://[' } })),
  answering('a page of HTML', 'html'),
  ...damaging('an empty answer', (given) => ({ ...given, body: Buffer.alloc(0) })),
  ...damaging('a connection that is cut', 'cut'),
  ...damaging('half of the body, with its length', (given) => ({
    ...given,
    body: given.body.subarray(0, given.body.length >> 1),
  })),
  ...damaging('another bit', 'altered').map(({ fits, ...fault }) => ({
    ...fault,
    // Git ignores an unknown capability.
    fits: (route: Route) => route.name !== 'refs of git' && fits(route),
  })),
  slow(answering('an answer that never comes', 'silent')),
  slow(answering('a body that stalls', 'stall', hasBody)),
  connecting('a closed port', addresses.closed),
  connecting(
    'a name that does not resolve',
    Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }),
  ),
  slow(connecting('a connection without a word', addresses.silent)),
  connecting('a certificate of a stranger', addresses.stranger),
  json(
    'an empty list',
    'tags',
    asArray(() => []),
  ),
  json(
    'a list that lacks the newest',
    'tags',
    asArray((all) => all.slice(0, -1)),
  ),
  json('an empty list', 'versions', listings(0)),
  json('a list that lacks the newest', 'versions', listings(-1)),
  json('no signature', 'package', without('shasums_signature_url')),
  json('no keys', 'package', without('signing_keys')),
  json('another digest', 'package', (value) => ({ ...value, shasum: 'ab'.repeat(32) })),
  json('another platform', 'package', (value) => ({ ...value, os: 'plan9' })),
  answering(
    'other digests',
    (given) => ({
      ...given,
      body: Buffer.from(given.body.toString().replace(/^\w{8}/gm, 'abababab')),
    }),
    ({ sends }) => sends === 'sums',
  ),
  answering(
    'a signature of something else',
    (given) => ({ ...given, body: Buffer.from('no signature') }),
    ({ sends }) => sends === 'signature',
  ),
]

/** Routes inside of the registry, which have their own faults. */
export const storageRoute: Route = { name: 'storage', source: 'github' }
export const recordsRoute: Route = { name: 'records', source: 'github' }

const breaking = (
  route: Route,
  name: string,
  steps: readonly string[],
  outcome: unknown,
): RouteFault => ({
  name,
  fits: (one) => one === route,
  begin(world) {
    world.breaking = (step) => (steps.includes(step) ? outcome : undefined)
    return () => {
      world.breaking = undefined
    }
  },
})

const writes = ['apply', 'patch', 'writeStatus']

export const innerFaults: readonly RouteFault[] = [
  breaking(storageRoute, 'no space', ['put'], unavailable('the archive storage is full')),
  breaking(
    storageRoute,
    'no right',
    ['put', 'verify', 'check'],
    new RegistryError('BadGateway', 'the archive storage refuses this registry'),
  ),
  breaking(
    storageRoute,
    'refused credentials',
    ['put', 'verify', 'check'],
    new RegistryError('StorageCredentialsRefused', 'the credentials are not accepted'),
  ),
  breaking(
    storageRoute,
    'no connection',
    ['put', 'verify', 'check'],
    unavailable('the archive storage cannot be reached'),
  ),
  breaking(storageRoute, 'other bytes', ['verify'], false),
  ...writes.flatMap((step) =>
    (['Conflict', 'Forbidden', 'Unauthenticated', 'Unavailable', 'ServerError'] as const).map(
      (reason) => breaking(recordsRoute, `${step} ${reason}`, [step], new ApiError(reason, step)),
    ),
  ),
]
