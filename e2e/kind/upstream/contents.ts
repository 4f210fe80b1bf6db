/** The contents of the upstreams in the cluster, as the tests send them to their pod. */
export interface Upstream {
  /** The host name at which pods reach them. */
  readonly hostname: string
  /** Keyed by the names of the test upstreams. */
  readonly ports: Readonly<Record<string, number>>
  readonly tags: readonly {
    readonly repository: string
    readonly tag: string
    readonly files: Readonly<Record<string, string>>
  }[]
  /** Bytes as base64. */
  readonly providers: readonly {
    readonly address: string
    readonly version: string
    readonly platforms: Readonly<Record<string, string>>
    readonly key: { readonly fingerprint: string; readonly armored: string }
    readonly signature: string
  }[]
}
