import { X509Certificate } from 'node:crypto'
import { parseDocument } from 'yaml'
import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import { attempt, jsonOf } from '../../base/errors/errors.ts'
import { Refusal } from './refusal.ts'

type Fields = Readonly<Record<string, unknown>>

/** Credentials of a caller for the API server. */
export interface ClusterCredentials {
  readonly token?: string
  /** PEM. */
  readonly cert?: string
  readonly key?: string
}

/** The cluster that the server itself reads, for comparison. */
export interface KnownCluster {
  readonly server: string
  /** PEM, one certificate or several. */
  readonly ca: string | undefined
}

/** Fields that would make the server run, read, trust or visit something, or act as another user. */
const refusedOfUser = [
  'exec',
  'auth-provider',
  'tokenFile',
  'client-certificate',
  'client-key',
  'username',
  'password',
  'as',
  'as-uid',
  'as-groups',
  'as-user-extra',
]
const refusedOfCluster = ['proxy-url', 'insecure-skip-tls-verify', 'certificate-authority']

/**
 * Takes only the credentials of the current context's user from a kubeconfig. The server knows the address and certificate
 * of the API server itself.
 *
 * @param token base64 of YAML or JSON
 * @throws Refusal that names the forbidden fields, never a value
 */
export function credentialsOfKubeconfig(token: string, known: KnownCluster): ClusterCredentials {
  const config = parse(token)
  const { context, user, cluster } = currentOf(config)
  if (context['user'] === undefined || user === undefined) {
    throw wrong('the current context has no user: choose another with kubectl config use-context')
  }
  refuseFields('user', user, refusedOfUser)
  if (cluster !== undefined) {
    refuseFields('cluster', cluster, refusedOfCluster)
    refuseOtherCluster(cluster, known)
  }
  return credentialsOf(user)
}

function parse(token: string): Fields {
  const bytes = Buffer.from(token, 'base64')
  const digits = token.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
  if (bytes.toString('base64').replace(/=+$/, '') !== digits) {
    throw wrong('the token is not base64')
  }
  const json = jsonOf(bytes.toString())
  const config = isRecord(json) ? json : yamlOf(bytes.toString())
  if (isRecord(config)) return config
  throw wrong('the token is not the base64 of a kubeconfig in YAML or JSON')
}

/** Limit of lines and special characters in YAML: the parser's time grows with them. One context needs about fifty. */
const maxYamlSigns = 1000

/** Parses YAML without tags, merge keys and aliases: a short text must not expand to a long one. */
function yamlOf(text: string): unknown {
  const signs = text.match(/[\n[\]{},:"'&*!|>#%@`]|[-?] /g) ?? []
  if (signs.length > maxYamlSigns) {
    throw wrong('it has too many entries: send one with a single context')
  }
  return attempt(() => {
    const document = parseDocument(text, { schema: 'core', merge: false, logLevel: 'silent' })
    return document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: 0 })
  })
}

function currentOf(config: Fields): { context: Fields; user?: Fields; cluster?: Fields } {
  const name = config['current-context']
  if (typeof name !== 'string' || name === '') {
    throw wrong('it has no current-context: choose one with kubectl config use-context')
  }
  const context = entryOf(config, 'contexts', 'context', name)
  if (context === undefined) throw wrong('its current-context is not one of its contexts')
  const user = entryOf(config, 'users', 'user', context['user'])
  const cluster = entryOf(config, 'clusters', 'cluster', context['cluster'])
  return { context, ...(user && { user }), ...(cluster && { cluster }) }
}

/** @throws Refusal where two entries have the same name */
function entryOf(config: Fields, list: string, field: string, name: unknown): Fields | undefined {
  const entries = config[list]
  if (!Array.isArray(entries) || typeof name !== 'string') return undefined
  const named = entries.filter((entry) => isRecord(entry) && entry['name'] === name)
  if (named.length > 1) throw wrong(`two of its ${list} have the same name`)
  const found: unknown = named[0]?.[field]
  return isRecord(found) ? found : undefined
}

function refuseFields(of: string, fields: Fields, refused: readonly string[]): void {
  const found = refused.filter((name) => Object.hasOwn(fields, name) && !isNothing(fields[name]))
  if (found.length > 0) {
    throw wrong(
      `its ${of} has ${found.join(', ')}, which is not allowed: only token, client-certificate-data and client-key-data are`,
    )
  }
}

/** Clients write unset fields in all of these ways. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true
  if (typeof value !== 'object') return false
  return Object.keys(value).length === 0
}

/**
 * Refuses credentials of another cluster. The API server has other addresses outside the cluster, so the same certificate
 * authority is enough. A kubeconfig may also name no server.
 */
function refuseOtherCluster(cluster: Fields, known: KnownCluster): void {
  const server = cluster['server']
  if (isNothing(server)) return
  if (typeof server === 'string' && originOf(server) === originOf(known.server)) return
  const ours = fingerprintsOf(known.ca ?? '')
  const theirs = fingerprintsOf(pemOf(cluster['certificate-authority-data']) ?? '')
  if (theirs.length > 0 && theirs.every((fingerprint) => ours.includes(fingerprint))) return
  throw wrong(
    'its server is another cluster than the one of this registry: switch to the context of that cluster, or leave the cluster out',
  )
}

function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin
}

function fingerprintsOf(pem: string): string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return attempt(() => blocks.map((block) => new X509Certificate(block).fingerprint256)) ?? []
}

function credentialsOf(user: Fields): ClusterCredentials {
  const { token } = user
  const cert = pemOf(user['client-certificate-data'])
  const key = pemOf(user['client-key-data'])
  if (!isNothing(token) && (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))) {
    throw wrong('its token is not a token')
  }
  const wantsCertificate =
    !isNothing(user['client-certificate-data']) || !isNothing(user['client-key-data'])
  if (wantsCertificate && (cert === undefined || key === undefined)) {
    throw wrong('client-certificate-data and client-key-data must be both there, in base64')
  }
  if (isNothing(token) && !wantsCertificate) {
    throw wrong('its user has no credentials: neither token nor client-certificate-data')
  }
  return {
    ...(typeof token === 'string' && token !== '' && { token }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
  }
}

function pemOf(base64: unknown): string | undefined {
  if (typeof base64 !== 'string' || base64 === '') return undefined
  const text = Buffer.from(base64, 'base64').toString('latin1')
  return text.includes('-----BEGIN ') ? text : undefined
}

function wrong(what: string): Refusal {
  return new Refusal(
    'KubeconfigRefused',
    `the kubeconfig is refused: ${what}. Send "Authorization: Bearer" with the base64 of a kubeconfig such as kubectl config view --raw --minify --flatten prints`,
  )
}
