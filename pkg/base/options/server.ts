import { logOptions } from './printing.ts'
import { apart, distinctAddresses, needs, together } from './rules.ts'
import { type Command, flagged, type Options } from './table.ts'
import { baseUrl, brokerUrl, endpointUrl, issuerUrl } from './urls.ts'
import {
  apiGroup,
  archivesOption,
  durationMs,
  list,
  listenAddress,
  name,
  namespace,
  namespaceOrAll,
  path,
  sizeBytes,
  storageGrants,
  toggle,
  valkeyAddress,
} from './values.ts'
import { storageVariables } from './variables.ts'

const options = flagged({
  listen: {
    value: listenAddress,
    default: ':8080',
    meaning: 'Address on which the registry listens.',
  },
  adminListen: {
    value: listenAddress,
    default: ':9090',
    meaning:
      'Address of `/metrics`, `/livez` and `/readyz`. Clients should not be able to reach it.',
  },
  tlsCertPath: {
    value: path,
    meaning: 'PEM certificate chain; enables HTTPS. Depot reloads the file when it changes.',
  },
  tlsCertKey: {
    value: path,
    meaning: 'PEM private key of the certificate in `--tls-cert-path`.',
  },
  baseUrl: {
    value: baseUrl,
    otherwise: 'from the request',
    meaning: 'External URL of the server, for absolute links.',
  },
  trustProxy: toggle(
    'Trust `X-Forwarded-Proto` and `X-Forwarded-Host`. Use it only behind a proxy that sets both.',
  ),
  mcp: toggle(
    'Serve coding agents at `/depot/mcp`: the Model Context Protocol, with tools that cannot change anything.',
  ),
  apiGroup: {
    value: apiGroup,
    default: 'depot.internal',
    meaning: 'API group of the custom resources, and prefix of their labels.',
  },
  kubeconfig: {
    value: path,
    otherwise: 'in-cluster, otherwise `$KUBECONFIG`',
    meaning: 'Kubeconfig with which the server accesses the cluster.',
  },
  manifests: {
    value: path,
    meaning: 'Directory of YAML manifests to read instead of a cluster.',
  },
  allowEmptyManifests: toggle(
    'Accept that all files in `--manifests` disappear at once. Otherwise Depot assumes that the volume is not mounted, and keeps serving.',
  ),
  watchNamespace: {
    value: namespaceOrAll,
    otherwise: 'all',
    meaning: 'Serve the resources of this namespace only.',
  },
  namespace: {
    value: namespace,
    default: 'depot-system',
    platformVariable: 'POD_NAMESPACE',
    meaning: 'Namespace of the GroupBindings. Those of other namespaces are ignored.',
  },
  anonymousAuth: toggle(
    'Serve everything to everyone, without authentication. With OIDC: callers without a token are guests, who see public resources.',
  ),
  useBearerToken: toggle(
    'Callers send a service-account token, and the RBAC rules of the cluster decide.',
  ),
  oidcIssuerUrl: {
    value: issuerUrl,
    meaning:
      'OIDC issuer of the tokens that callers send. HTTPS, or HTTP on this machine and inside the cluster.',
  },
  oidcClientId: {
    value: name,
    meaning: 'Audience that tokens must have. Required with `--oidc-issuer-url`.',
  },
  oidcGroupsClaim: {
    value: name,
    default: 'groups',
    meaning:
      "Claim with the caller's groups: a list or one string. If no claim has that name, it is a path such as `realm_access.roles`.",
  },
  oidcAuthzUrl: {
    value: endpointUrl,
    otherwise: "from the issuer's discovery",
    meaning: 'Authorization endpoint for `terraform login`.',
  },
  oidcTokenUrl: {
    value: endpointUrl,
    otherwise: "from the issuer's discovery",
    meaning: 'Token endpoint for `terraform login`.',
  },
  oidcScopes: {
    value: list,
    default: 'openid,profile,email,groups',
    meaning: 'Scopes that `terraform login` requests.',
  },
  oidcUiClientId: {
    value: name,
    meaning: 'Second accepted audience: the client of the explorer.',
  },
  oidcAllowSaFallback: toggle(
    'Also accept service-account tokens of the cluster. Its RBAC rules decide about them.',
  ),
  oidcAllowClientCredentials: toggle(
    'Also accept tokens that the issuer gave to other clients, as the group `client:{subject}`.',
  ),
  publishIssuers: {
    value: path,
    otherwise: 'none',
    meaning:
      'YAML file with the issuers of CI whose jobs may publish: a list of `alias`, `issuer`, `audience` and `claims`. The claims of a verified token become groups `{alias}:{claim}:{value}` for GroupBindings. Depot applies changes of the file without a restart.',
  },
  brokerProxyUrl: {
    value: brokerUrl,
    meaning:
      'Address of the OIDC broker inside the cluster. Depot forwards `/broker/*` to it and fetches its keys there. HTTPS, or HTTP on this machine and inside the cluster.',
  },
  syncUrl: {
    value: brokerUrl,
    otherwise: 'none: nobody publishes over HTTP',
    meaning:
      'Address of the controller inside the cluster. Depot forwards `/depot/publish/*` and `/depot/hooks/*` to it. HTTPS, or HTTP on this machine and inside the cluster.',
  },
  passthroughCacheTtlMs: {
    value: durationMs({ least: '0', most: '24h' }),
    default: '10s',
    meaning: 'How long an RBAC decision about a caller is cached. 0 asks the cluster every time.',
  },
  archives: {
    ...archivesOption,
    default: '/data/modules',
    meaning: 'Root folder of archives on the file system. Depot serves nothing outside of it.',
  },
  storageGrants: {
    value: storageGrants,
    meaning:
      'Storage locations from which Depot sends archives of a namespace without reading them completely first, such as `team-a=s3://bucket/team-a`. `*=*` trusts everyone who writes Versions.',
  },
  archiveCacheDir: {
    value: path,
    meaning: 'Cache directory for verified archives of remote storage.',
  },
  archiveCacheSizeBytes: {
    value: sizeBytes,
    default: '10GiB',
    meaning: 'Maximum size of the cache directory.',
  },
  gpgPrivateKeyPath: {
    value: path,
    meaning:
      'Armored private key that signs the checksums of providers. Without it, providers cannot be installed.',
  },
  presignModules: toggle(
    'Also redirect module archives to their storage, if it has `presign` enabled.',
  ),
  statsValkeyAddr: {
    value: valkeyAddress,
    meaning: 'Valkey that counts downloads for all replicas. The prefix `valkeys://` enables TLS.',
  },
  statsPath: {
    value: path,
    default: './data/stats.db',
    meaning:
      'File that counts downloads without Valkey, and queues them while Valkey is unavailable.',
  },
  consumerGroups: {
    value: name.meta({ title: 'PATTERN' }),
    otherwise: 'none: only programs are kept',
    meaning:
      'Pattern for groups, such as `team-*`. The list of consumers of a module has, for each person, the first group that matches. `*` does not match `/`.',
  },
  consumerPersons: toggle(
    'Store people without such a group under the subject of their tokens. This is personal data: inform them first.',
  ),
  statsRefreshIntervalMs: {
    value: durationMs({ least: '100ms', most: '24h' }),
    default: '10s',
    meaning: 'How often to read the counts of other replicas from Valkey.',
  },
  auditLog: {
    value: path,
    otherwise: 'none',
    meaning:
      'File for the audit log: JSON lines with the subject of the token for each download. `-` is standard output. It contains personal data.',
  },
  shutdownDelayMs: {
    value: durationMs({ least: '0', most: '1h' }),
    default: '0s',
    meaning:
      'How long to accept requests after SIGTERM while `/readyz` already fails, so that load balancers notice first.',
  },
  shutdownGracePeriodMs: {
    value: durationMs({ least: '0', most: '24h' }),
    default: '20s',
    meaning: 'How long running requests can take to finish after SIGTERM.',
  },
  ...logOptions,
})

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
  examples: [
    'depot server --manifests registry --archives archives --anonymous-auth',
    'depot server --oidc-issuer-url https://login.example.com --oidc-client-id depot',
  ],
  options,
  groups: {
    listen: 'Addresses',
    apiGroup: 'Records',
    anonymousAuth: 'Callers',
    archives: 'Archives',
    statsValkeyAddr: 'Download counts and audit log',
    shutdownDelayMs: 'Process',
  },
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
    needs('consumerGroups', oidc),
    needs('consumerPersons', oidc),
    ({ given, name: flag }) =>
      given('publishIssuers') && given('anonymousAuth') && !given('oidcIssuerUrl')
        ? `${flag('publishIssuers')} and ${flag('anonymousAuth')} exclude each other, because a server with anonymous access takes no tokens: set ${flag('oidcIssuerUrl')}, or keep one of them`
        : undefined,
    apart('manifests', 'kubeconfig', 'manifests take the place of a cluster'),
    apart('manifests', 'useBearerToken', 'only a cluster can check such a token'),
    needs('manifests', ['anonymousAuth', 'oidcIssuerUrl', 'oidcClientId'], ['useBearerToken']),
    needs('archiveCacheSizeBytes', ['archiveCacheDir']),
  ],
} satisfies Command<typeof options, typeof secrets>

export type ServerCommandOptions = Options<typeof options>

/** The way in which callers are identified. With OIDC and `anonymousAuth`, callers without a token are guests. */
export function authModeOf({
  anonymousAuth,
  useBearerToken,
  oidcIssuerUrl,
}: Pick<ServerCommandOptions, 'anonymousAuth' | 'useBearerToken' | 'oidcIssuerUrl'>) {
  if (oidcIssuerUrl !== undefined) return 'oidc'
  if (useBearerToken) return 'bearer'
  return anonymousAuth ? 'anonymous' : 'kubeconfig'
}
