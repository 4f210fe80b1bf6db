/**
 * The answers of the registry protocols of Terraform and OpenTofu, as types for pkg/registry/protocol. Nothing is parsed
 * here: answers of other registries are read in pkg/fill/sources.
 */

/**
 * `login.v1` of service discovery.
 *
 * @see https://developer.hashicorp.com/terraform/internals/login-protocol
 */
export interface Login {
  readonly client: string
  readonly grant_types: readonly string[]
  readonly authz: string
  readonly token: string
  readonly scopes: readonly string[]
  readonly ports: readonly [first: number, last: number]
}

/** @see https://developer.hashicorp.com/terraform/internals/remote-service-discovery */
export interface Discovery {
  readonly 'modules.v1'?: string | undefined
  readonly 'providers.v1'?: string | undefined
  readonly 'login.v1'?: Login | undefined
}

/** Why people should take another version. */
export interface Deprecation {
  readonly reason: string
  readonly link?: string | undefined
}

/** @see https://developer.hashicorp.com/terraform/internals/module-registry-protocol */
export interface ModuleVersions {
  readonly modules: readonly {
    /** URL of the module's source repository. */
    readonly source?: string | undefined
    readonly versions: readonly {
      readonly version: string
      readonly deprecation?: Deprecation | undefined
    }[]
  }[]
}

/** One folder of a module version. */
interface ModuleFolder {
  readonly path: string
  readonly name: string
  readonly readme: string
  /** Whether nothing is known about it. */
  readonly empty: boolean
  readonly inputs: readonly {
    readonly name: string
    readonly type: string
    readonly description: string
    /** As JSON; empty if the input is required. */
    readonly default: string
    readonly required: boolean
  }[]
  readonly outputs: readonly { readonly name: string; readonly description: string }[]
  readonly dependencies: readonly {
    readonly name: string
    readonly source: string
    readonly version: string
  }[]
  readonly provider_dependencies: readonly {
    readonly name: string
    readonly namespace: string
    readonly source: string
    readonly version: string
  }[]
  readonly resources: readonly { readonly name: string; readonly type: string }[]
}

/** The fields that lists have of a version of a module or provider. Those that nobody knows are absent, never null or empty. */
export interface ListedVersion {
  readonly id: string
  readonly owner: string
  readonly namespace: string
  readonly name: string
  readonly version: string
  readonly description: string
  /** URL of the source repository. */
  readonly source?: string | undefined
  /** Tag of the source repository. */
  readonly tag?: string | undefined
  /** RFC 3339. */
  readonly published_at?: string | undefined
  readonly downloads: number
}

/** A version of a module in lists. */
export interface ListedModule extends ListedVersion {
  readonly provider: string
  readonly verified: boolean
}

export interface ModuleList {
  readonly meta: {
    readonly limit: number
    readonly current_offset: number
    readonly next_offset?: number
    readonly next_url?: string
    readonly prev_offset?: number
    readonly prev_url?: string
  }
  readonly modules: readonly ListedModule[]
}

/**
 * One version of a module in detail.
 *
 * @see https://developer.hashicorp.com/terraform/registry/api-docs
 */
export interface ModuleDetail extends ListedModule {
  readonly root: ModuleFolder
  readonly submodules: readonly ModuleFolder[]
  readonly examples: readonly ModuleFolder[]
  readonly providers: readonly string[]
  /** Newest first. */
  readonly versions: readonly string[]
  readonly deprecation?: Deprecation | undefined
}

export interface ProviderList {
  readonly meta: ModuleList['meta']
  readonly providers: readonly ListedVersion[]
}

/**
 * One version of a provider.
 *
 * @see https://developer.hashicorp.com/terraform/registry/api-docs
 */
export interface ProviderDetail extends ListedVersion {
  /** Newest first. */
  readonly versions: readonly string[]
  readonly docs: readonly {
    readonly id: string
    readonly title: string
    readonly path: string
    readonly slug: string
    readonly category: string
    readonly subcategory: string
    readonly language: string
  }[]
}

/** Downloads of all versions of a module. */
export interface DownloadSummary {
  readonly data: {
    readonly type: 'module-downloads-summary'
    readonly id: string
    readonly attributes: {
      readonly week: number
      readonly month: number
      /** Absent if there are downloads of which nobody knows the year. */
      readonly year?: number
      readonly total: number
    }
  }
}

/** @see https://developer.hashicorp.com/terraform/internals/provider-registry-protocol */
export interface ProviderVersions {
  readonly versions: readonly {
    readonly version: string
    readonly protocols?: readonly string[] | undefined
    readonly platforms: readonly { readonly os: string; readonly arch: string }[]
  }[]
  /** CLIs print each whenever they install the provider. */
  readonly warnings?: readonly string[] | undefined
}

export interface SigningKeys {
  readonly gpg_public_keys: readonly { readonly key_id: string; readonly ascii_armor: string }[]
}

/** One platform of a version of a provider. */
export interface ProviderPackage {
  readonly protocols?: readonly string[] | undefined
  readonly os: string
  readonly arch: string
  readonly filename: string
  readonly download_url: string
  readonly shasum: string
  readonly shasums_url: string
  readonly shasums_signature_url: string
  readonly signing_keys: SigningKeys
}
