import * as z from 'zod'
import { distinctAddresses, needs, together } from './rules.ts'
import { serverCommand } from './server.ts'
import type { Command, Options, OptionTable } from './table.ts'
import { baseUrl, endpointUrl, issuerUrl } from './urls.ts'
import { durationMs, name, onOff, path } from './values.ts'

const { listen, adminListen, shutdownDelayMs, shutdownGracePeriodMs, logLevel } =
  serverCommand.options

/** Scheme, host and port: what a path would be appended to is the registry's own. */
const origin = baseUrl
  .refine((text) => new URL(text).pathname === '/', {
    error: 'has a path: write scheme, host and port only',
  })
  .meta({ title: 'URL' })

const scopes = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((scope) => scope !== ''))
  .refine((list) => list.includes('openid'), {
    error: 'lacks openid: write the scopes separated by blanks, openid among them',
  })
  .transform((list) => list.join(' '))
  .meta({ title: "'A B …'" })

const reserved =
  /^\/(?:depot|broker|\.well-known|v1|-|auth\/(?:login|logout|refresh|error|dev-token|logged-out))(?:\/|$)/

const callbackPath = z
  .string()
  .refine((text) => /^\/[\w.~/-]*[\w~-]$/.test(text) && !text.includes('//'), {
    error: 'is no path: write, for example, /auth/callback',
    abort: true,
  })
  .refine((text) => !reserved.test(text), {
    error: 'belongs to something else: keep out of /depot, /broker, /.well-known, /v1 and /-',
  })
  .meta({ title: 'PATH' })

const options = {
  listen: { ...listen, default: ':3000', meaning: 'Address that the pages are served on.' },
  adminListen: { ...adminListen, default: ':9091' },
  serverUrl: {
    flag: 'server-url',
    value: origin,
    default: 'http://127.0.0.1:8080',
    meaning: 'The Depot server behind the explorer.',
  },
  serverCaPath: {
    flag: 'server-ca-path',
    value: path,
    meaning: "PEM certificates that the server's own must come from, where it serves HTTPS.",
  },
  brokerUrl: {
    flag: 'broker-url',
    value: origin,
    otherwise: 'the server, where the issuer has the base URL',
    meaning: 'Address of the OIDC broker inside the cluster, for what a login asks of it.',
  },
  baseUrl: {
    flag: 'base-url',
    value: origin,
    alias: 'NEXT_PUBLIC_BASE_URL',
    otherwise: 'what the request says',
    meaning: 'URL by which browsers and CLIs reach the explorer. Needed with OIDC.',
  },
  trustProxy: serverCommand.options.trustProxy,
  oidcIssuerUrl: {
    flag: 'oidc-issuer-url',
    value: issuerUrl,
    otherwise: 'no login',
    meaning:
      'People sign in with this OIDC issuer. HTTPS, or HTTP on this machine and inside the cluster.',
  },
  oidcClientId: {
    flag: 'oidc-client-id',
    value: name,
    meaning: 'Client of the explorer at that issuer; the server takes it as `--oidc-ui-client-id`.',
  },
  oidcClientSecretPath: {
    flag: 'oidc-client-secret-path',
    value: path,
    otherwise: '`DEPOT_OIDC_CLIENT_SECRET`, else a public client',
    meaning: 'File with the secret of that client.',
  },
  oidcAuthzUrl: {
    flag: 'oidc-authz-url',
    value: endpointUrl,
    otherwise: "from the issuer's discovery",
    meaning: 'Authorization endpoint that browsers are sent to.',
  },
  oidcScopes: {
    flag: 'oidc-scopes',
    value: scopes,
    default: 'openid profile email groups',
    meaning:
      'Scopes that a login asks for, separated by blanks; add `offline_access` for longer sessions.',
  },
  oidcCallbackPath: {
    flag: 'oidc-callback-path',
    value: callbackPath,
    default: '/auth/callback',
    meaning: 'Where the issuer sends browsers back to.',
  },
  sessionPasswordPath: {
    flag: 'session-password-path',
    value: path,
    otherwise: '`DEPOT_SESSION_PASSWORD`',
    meaning:
      'File with the passwords that seal sessions, one a line, 32 characters or more: the first seals, all of them open. Needed with OIDC or the developer token.',
  },
  sessionTtlMs: {
    flag: 'session-ttl',
    value: durationMs({ least: '1m', most: '720h' }),
    default: '8h',
    meaning: 'Longest life of a session.',
  },
  devTokenInput: {
    flag: 'dev-token-input',
    value: onOff,
    default: 'false',
    meaning: 'Show a field for any bearer token in the sidebar. Not for production.',
  },
  distPath: {
    flag: 'dist-path',
    value: path,
    otherwise: 'beside the program',
    meaning: 'Folder of the built pages.',
  },
  shutdownDelayMs,
  shutdownGracePeriodMs,
  logLevel,
} satisfies OptionTable

const secrets = {
  sessionPassword: {
    variable: 'DEPOT_SESSION_PASSWORD',
    meaning: 'The passwords of `--session-password-path`.',
  },
  oidcClientSecret: {
    variable: 'DEPOT_OIDC_CLIENT_SECRET',
    meaning: 'The secret of `--oidc-client-secret-path`.',
  },
} as const

/** The explorer. */
export const explorerCommand = {
  program: 'depot ui',
  summary:
    'Serves the pages of the registry, and passes what is for the registry on to its server.',
  options,
  secrets,
  rules: [
    distinctAddresses('listen', 'adminListen'),
    together('oidcIssuerUrl', 'oidcClientId'),
    needs('oidcIssuerUrl', ['baseUrl']),
    needs('oidcClientSecretPath', ['oidcIssuerUrl']),
    needs('oidcAuthzUrl', ['oidcIssuerUrl']),
  ],
} satisfies Command<typeof options, typeof secrets>

export type ExplorerCommandOptions = Options<typeof options>
export type ExplorerSecrets = { readonly [K in keyof typeof secrets]: string | undefined }
