import * as z from 'zod'
import { logOptions } from './printing.ts'
import { distinctAddresses, needs, together } from './rules.ts'
import { serverCommand } from './server.ts'
import { type Command, flagged, type Options } from './table.ts'
import { baseUrl, endpointUrl, issuerUrl } from './urls.ts'
import { durationMs, name, path, toggle } from './values.ts'

const { listen, adminListen, shutdownDelayMs, shutdownGracePeriodMs } = serverCommand.options

/** Scheme, host and port without a path, because the paths below belong to the registry. */
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
  /^\/(?:depot|broker|\.well-known|v1|-|auth\/(?:login|logout|refresh|error|dev-token|signed-out))(?:\/|$)/

const callbackPath = z
  .string()
  .refine((text) => /^\/[\w.~/-]*[\w~-]$/.test(text) && !text.includes('//'), {
    error: 'is not a path: write, for example, /auth/callback',
    abort: true,
  })
  .refine((text) => !reserved.test(text), {
    error: 'belongs to something else: keep out of /depot, /broker, /.well-known, /v1 and /-',
  })
  .meta({ title: 'PATH' })

const options = flagged({
  listen: { ...listen, default: ':3000', meaning: 'Address on which the pages are served.' },
  adminListen: { ...adminListen, default: ':9091' },
  serverUrl: {
    value: origin,
    default: 'http://127.0.0.1:8080',
    meaning: 'URL of the Depot server.',
  },
  serverCaPath: {
    value: path,
    meaning:
      'PEM file with the certificate authorities of the server, if it serves HTTPS. It is read again when it changes. While it does not exist, the authorities of the system are trusted.',
  },
  brokerUrl: {
    value: origin,
    otherwise: 'the server, if the issuer has the base URL',
    meaning: 'Address of the OIDC broker inside the cluster, for the requests of a login.',
  },
  baseUrl: {
    value: origin,
    alias: 'NEXT_PUBLIC_BASE_URL',
    otherwise: 'from the request',
    meaning: 'External URL of the explorer, for browsers and CLIs. Required with OIDC.',
  },
  trustProxy: serverCommand.options.trustProxy,
  oidcIssuerUrl: {
    value: issuerUrl,
    otherwise: 'no login',
    meaning:
      'OIDC issuer with which people sign in. HTTPS, or HTTP on this machine and inside the cluster.',
  },
  oidcClientId: {
    value: name,
    meaning:
      'Client of the explorer at that issuer. Give the server the same id as `--oidc-ui-client-id`.',
  },
  oidcClientSecretPath: {
    value: path,
    otherwise: '`DEPOT_OIDC_CLIENT_SECRET`, otherwise a public client',
    meaning: 'File with the secret of that client.',
  },
  oidcAuthzUrl: {
    value: endpointUrl,
    otherwise: "from the issuer's discovery",
    meaning: 'Authorization endpoint for browsers.',
  },
  oidcScopes: {
    value: scopes,
    default: 'openid profile email groups',
    meaning:
      'Scopes that a login requests, separated by blanks. Add `offline_access` for longer sessions.',
  },
  oidcCallbackPath: {
    value: callbackPath,
    default: '/auth/callback',
    meaning: 'Path to which the issuer redirects browsers.',
  },
  sessionPasswordPath: {
    value: path,
    otherwise: '`DEPOT_SESSION_PASSWORD`',
    meaning:
      'File with the passwords that encrypt sessions, one per line, 32 characters or more. The first one encrypts, all of them decrypt. Required with OIDC or the developer token.',
  },
  sessionTtlMs: {
    value: durationMs({ least: '1m', most: '720h' }),
    default: '8h',
    meaning: 'Maximum lifetime of a session.',
  },
  devTokenInput: toggle(
    'Show a field for any bearer token in the sidebar. Do not use it in production.',
  ),
  distPath: {
    value: path,
    otherwise: 'next to the program',
    meaning: 'Folder of the built pages.',
  },
  shutdownDelayMs,
  shutdownGracePeriodMs,
  ...logOptions,
})

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
  summary: 'Serves the web pages of the registry, and forwards registry requests to the server.',
  examples: [
    'depot ui --server-url http://127.0.0.1:8080',
    'depot ui --base-url https://depot.example.com --oidc-issuer-url https://login.example.com --oidc-client-id depot-ui --session-password-path password',
  ],
  options,
  groups: {
    listen: 'Addresses',
    oidcIssuerUrl: 'Sign-in',
    distPath: 'Process',
  },
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
