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

/** A way to the API server that keeps up with rotated tokens, certificates and authorities. */
export interface Connection {
  /** @throws RegistryError Unauthenticated, if a credential plugin fails or a file is gone */
  credentials(): Promise<Credentials>
  /** Forgets what is cached, because the API server refused it. */
  reload(): void
  /** Forgets it where its files were rewritten, because the API server cannot be reached. */
  recheck(): void
}
