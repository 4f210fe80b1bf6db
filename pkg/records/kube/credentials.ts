import type { RequestOptions } from 'node:https'

/** Address and credentials for one request to the API server. */
export interface Credentials {
  /** Address of the API server without a trailing slash; it may have a path. */
  readonly server: string
  readonly headers: Readonly<Record<string, string>>
  readonly tls: Pick<
    RequestOptions,
    'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'servername' | 'rejectUnauthorized'
  >
  /** The `proxy-url` of the kubeconfig: http or https. */
  readonly proxyUrl?: string
}

/** Credentials for an API server that follow rotations of tokens, certificates and authorities. */
export interface Connection {
  /** @throws RegistryError Unauthenticated if a credential plugin fails or a file is missing */
  credentials(): Promise<Credentials>
  /** Drops cached credentials, because the API server refused them. */
  reload(): void
  /** Drops cached credentials if their files changed, because the API server cannot be reached. */
  recheck(): void
}
