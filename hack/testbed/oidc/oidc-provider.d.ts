/** The little of its types that is needed here; the package has none. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  interface Account {
    readonly accountId: string
    claims(): Promise<Record<string, unknown>>
  }

  export interface Configuration {
    readonly clients: readonly Readonly<Record<string, unknown>>[]
    readonly scopes: readonly string[]
    readonly claims: Readonly<Record<string, readonly string[]>>
    readonly conformIdTokenClaims: boolean
    findAccount(context: unknown, accountId: string): Account
    extraTokenClaims?(context: unknown, token: { readonly kind: string }): object | undefined
    readonly pkce?: { required(): boolean }
    /** Seconds. */
    readonly ttl?: { readonly IdToken: number }
    readonly features?: {
      readonly rpInitiatedLogout?: { readonly enabled: boolean }
      readonly deviceFlow?: { readonly enabled: boolean }
      readonly clientCredentials?: { readonly enabled: boolean }
      readonly resourceIndicators?: {
        readonly enabled: boolean
        defaultResource(): string
        useGrantedResource(): boolean
        getResourceServerInfo(
          context: unknown,
          resource: string,
          client: { readonly clientId: string },
        ): Readonly<Record<string, unknown>>
      }
    }
  }

  export class Provider {
    /** Trusts X-Forwarded-*. */
    proxy: boolean
    constructor(issuer: string, configuration: Configuration)
    callback(): RequestListener
  }
}
