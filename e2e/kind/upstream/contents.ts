/** What the upstreams in the cluster have, as the tests say it to their pod. */
export interface Upstream {
  /** By which pods reach them. */
  readonly hostname: string
  /** By the names that the stand-ins give to their servers. */
  readonly ports: Readonly<Record<string, number>>
  readonly tags: readonly {
    readonly repository: string
    readonly tag: string
    readonly files: Readonly<Record<string, string>>
  }[]
  /** Bytes are in base64. */
  readonly providers: readonly {
    readonly address: string
    readonly version: string
    readonly platforms: Readonly<Record<string, string>>
    readonly key: { readonly fingerprint: string; readonly armored: string }
    readonly signature: string
  }[]
}
