import * as z from 'zod'
import { apart, distinctAddresses, needs, together } from './rules.ts'
import type { Command, Options, OptionTable } from './table.ts'
import { baseUrl, brokerUrl, endpointUrl, issuerUrl } from './urls.ts'
import {
  apiGroup,
  durationMs,
  list,
  listenAddress,
  name,
  namespace,
  namespaceOrAll,
  onOff,
  path,
  sizeBytes,
  storageGrants,
  valkeyAddress,
} from './values.ts'
import { storageVariables } from './variables.ts'

/** From the most to the least that is logged. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const anyLevel = `${logLevels.slice(0, -1).join(', ')} or ${logLevels.at(-1)}`
const logLevel = z
  .enum(logLevels, { error: `is no level: write ${anyLevel}` })
  .meta({ title: 'LEVEL' })

const options = {
  listen: {
    flag: 'listen',
    value: listenAddress,
    default: ':8080',
    meaning: 'Address that the registry is served on.',
  },
  adminListen: {
    flag: 'admin-listen',
    value: listenAddress,
    default: ':9090',
    meaning: 'Address of `/metrics`, `/livez` and `/readyz`; keep it away from clients.',
  },
  tlsCertPath: {
    flag: 'tls-cert-path',
    value: path,
    meaning: 'PEM certificate chain. With it, HTTPS is served; a changed file is read again.',
  },
  tlsCertKey: {
    flag: 'tls-cert-key',
    value: path,
    meaning: 'PEM private key of that certificate; goes with `--tls-cert-path`.',
  },
  baseUrl: {
    flag: 'base-url',
    value: baseUrl,
    otherwise: 'what the request says',
    meaning: 'URL by which clients reach the server, for absolute links.',
  },
  trustProxy: {
    flag: 'trust-proxy',
    value: onOff,
    default: 'false',
    meaning:
      'Believe `X-Forwarded-Proto` and `X-Forwarded-Host`. Only behind a proxy that sets both.',
  },
  apiGroup: {
    flag: 'api-group',
    value: apiGroup,
    default: 'depot.internal',
    meaning: 'API group of the custom resources, and prefix of their labels.',
  },
  kubeconfig: {
    flag: 'kubeconfig',
    value: path,
    otherwise: 'in-cluster, else `$KUBECONFIG`',
    meaning: "Kubeconfig of the server's own access to the cluster.",
  },
  manifests: {
    flag: 'manifests',
    value: path,
    meaning: 'Directory of YAML manifests that takes the place of a cluster.',
  },
  allowEmptyManifests: {
    flag: 'allow-empty-manifests',
    value: onOff,
    default: 'false',
    meaning:
      'Serve nothing when `--manifests` is found empty all at once; else that is taken for a volume that is not mounted.',
  },
  watchNamespace: {
    flag: 'watch-namespace',
    value: namespaceOrAll,
    otherwise: 'all',
    meaning: 'Serve the resources of this namespace only.',
  },
  namespace: {
    flag: 'namespace',
    value: namespace,
    default: 'depot-system',
    platformVariable: 'POD_NAMESPACE',
    meaning: 'Namespace that GroupBindings are read from; elsewhere they are ignored.',
  },
  anonymousAuth: {
    flag: 'anonymous-auth',
    value: onOff,
    default: 'false',
    meaning:
      'Identify no caller and serve everything. Together with OIDC: callers without a token are guests who see what is public.',
  },
  useBearerToken: {
    flag: 'use-bearer-token',
    value: onOff,
    default: 'false',
    meaning: 'Callers send a service-account token, and the cluster decides by its RBAC rules.',
  },
  oidcIssuerUrl: {
    flag: 'oidc-issuer-url',
    value: issuerUrl,
    meaning:
      'Callers send a token of this OIDC issuer. HTTPS, or HTTP on this machine and inside the cluster.',
  },
  oidcClientId: {
    flag: 'oidc-client-id',
    value: name,
    meaning: 'Audience that tokens must have; goes with `--oidc-issuer-url`.',
  },
  oidcGroupsClaim: {
    flag: 'oidc-groups-claim',
    value: name,
    default: 'groups',
    meaning:
      "Claim that holds the caller's groups: a list or one text; where no claim has that name, a path such as `realm_access.roles`.",
  },
  oidcAuthzUrl: {
    flag: 'oidc-authz-url',
    value: endpointUrl,
    otherwise: "from the issuer's discovery",
    meaning: 'Authorization endpoint that `terraform login` is sent to.',
  },
  oidcTokenUrl: {
    flag: 'oidc-token-url',
    value: endpointUrl,
    otherwise: "from the issuer's discovery",
    meaning: 'Token endpoint that `terraform login` is sent to.',
  },
  oidcScopes: {
    flag: 'oidc-scopes',
    value: list,
    default: 'openid,profile,email,groups',
    meaning: 'Scopes that `terraform login` asks for.',
  },
  oidcUiClientId: {
    flag: 'oidc-ui-client-id',
    value: name,
    meaning: 'Second audience that tokens may have: the client of the explorer.',
  },
  oidcAllowSaFallback: {
    flag: 'oidc-allow-sa-fallback',
    value: onOff,
    default: 'false',
    meaning:
      'Also take service-account tokens of the cluster; what they may see is then up to its RBAC rules.',
  },
  oidcAllowClientCredentials: {
    flag: 'oidc-allow-client-credentials',
    value: onOff,
    default: 'false',
    meaning: 'Also take tokens that the issuer gave to other clients, as group `client:{subject}`.',
  },
  brokerProxyUrl: {
    flag: 'broker-proxy-url',
    value: brokerUrl,
    meaning:
      'Address of the OIDC broker inside the cluster: `/broker/*` is passed on to it, and its keys are fetched there. HTTPS, or HTTP on this machine and inside the cluster.',
  },
  passthroughCacheTtlMs: {
    flag: 'passthrough-cache-ttl',
    value: durationMs({ least: '0', most: '24h' }),
    default: '10s',
    meaning: 'How long the answer of RBAC about one caller is remembered; 0 asks every time.',
  },
  filesystemMountPath: {
    flag: 'filesystem-mount-path',
    value: path,
    default: '/data/modules',
    meaning: 'Root of archives on the file system; nothing outside of it is served.',
  },
  storageGrants: {
    flag: 'storage-grants',
    value: storageGrants,
    meaning:
      'Places of storage that namespaces may use without a first read, such as `team-a=s3://bucket/team-a`; `*=*` trusts everybody who writes Versions.',
  },
  archiveCacheDir: {
    flag: 'archive-cache-dir',
    value: path,
    meaning: 'Directory in which verified archives of remote storage are kept.',
  },
  archiveCacheSizeBytes: {
    flag: 'archive-cache-size',
    value: sizeBytes,
    default: '10GiB',
    meaning: 'How much that directory may hold.',
  },
  gpgPrivateKeyPath: {
    flag: 'gpg-private-key-path',
    value: path,
    meaning:
      'Armored private key that signs provider checksums. Without it, providers cannot be installed.',
  },
  statsValkeyAddr: {
    flag: 'stats-valkey-addr',
    value: valkeyAddress,
    meaning:
      'Valkey that counts downloads for all replicas. With `valkeys://` before it, TLS is used.',
  },
  statsPath: {
    flag: 'stats-path',
    value: path,
    default: './data/stats.db',
    meaning:
      'File that counts downloads where there is no Valkey, and keeps them while it is away.',
  },
  statsRefreshIntervalMs: {
    flag: 'stats-refresh-interval',
    value: durationMs({ least: '100ms', most: '24h' }),
    default: '10s',
    meaning: 'How often the counts of other replicas are read from Valkey.',
  },
  presignModules: {
    flag: 'presign-modules',
    value: onOff,
    default: 'false',
    meaning: 'Redirect module archives to their storage too, where it is set to presign.',
  },
  auditLog: {
    flag: 'audit-log',
    value: path,
    otherwise: 'none',
    meaning:
      'File that says who downloaded what, in JSON lines with the subject of the token; `-` is standard output. It holds personal data.',
  },
  shutdownDelayMs: {
    flag: 'shutdown-delay',
    value: durationMs({ least: '0', most: '1h' }),
    default: '0s',
    meaning:
      'How long requests are still taken after SIGTERM while /readyz already fails, so that load balancers learn of it first.',
  },
  shutdownGracePeriodMs: {
    flag: 'shutdown-grace-period',
    value: durationMs({ least: '0', most: '24h' }),
    default: '20s',
    meaning: 'How long running requests may take to end after SIGTERM.',
  },
  logLevel: {
    flag: 'log-level',
    value: logLevel,
    default: 'info',
    meaning: `Least level that is logged: ${anyLevel}.`,
  },
} satisfies OptionTable

const secrets = {
  gpgPassphrase: {
    variable: 'DEPOT_GPG_PASSPHRASE',
    meaning: 'Passphrase of the private key in `--gpg-private-key-path`.',
  },
  valkeyPassword: {
    variable: 'DEPOT_VALKEY_PASSWORD',
    meaning: 'Password of the Valkey in `--stats-valkey-addr`.',
  },
}

const oidc = ['oidcIssuerUrl', 'oidcClientId'] as const

export const serverCommand = {
  program: 'depot server',
  summary: 'Serves the registry protocol of Terraform and OpenTofu.',
  options,
  secrets,
  variables: storageVariables,
  rules: [
    distinctAddresses('listen', 'adminListen'),
    together('tlsCertPath', 'tlsCertKey'),
    together('oidcIssuerUrl', 'oidcClientId'),
    apart('useBearerToken', 'oidcIssuerUrl', 'there is one authentication mode'),
    apart('useBearerToken', 'anonymousAuth', 'there is one authentication mode'),
    needs('oidcGroupsClaim', oidc),
    needs('oidcAuthzUrl', oidc),
    needs('oidcTokenUrl', oidc),
    needs('oidcScopes', oidc),
    needs('oidcUiClientId', oidc),
    needs('oidcAllowSaFallback', oidc),
    needs('oidcAllowClientCredentials', oidc),
    apart('manifests', 'kubeconfig', 'manifests take the place of a cluster'),
    apart('manifests', 'useBearerToken', 'only a cluster can check such a token'),
    needs('manifests', ['anonymousAuth', 'oidcIssuerUrl', 'oidcClientId'], ['useBearerToken']),
    needs('archiveCacheSizeBytes', ['archiveCacheDir']),
  ],
} satisfies Command<typeof options, typeof secrets>

export type ServerCommandOptions = Options<typeof options>

/** How callers say who they are. OIDC with `anonymousAuth` stays OIDC: callers without a token are its guests. */
export function authModeOf({
  anonymousAuth,
  useBearerToken,
  oidcIssuerUrl,
}: Pick<ServerCommandOptions, 'anonymousAuth' | 'useBearerToken' | 'oidcIssuerUrl'>) {
  if (oidcIssuerUrl !== undefined) return 'oidc'
  if (useBearerToken) return 'bearer'
  return anonymousAuth ? 'anonymous' : 'kubeconfig'
}
