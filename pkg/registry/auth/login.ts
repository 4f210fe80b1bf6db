import type { Login } from '../../api/registry/registry.ts'
import type { ProviderMetadata } from './provider-metadata.ts'

export interface LoginSettings {
  readonly clientId: string
  readonly scopes: readonly string[]
  /** Each overrides the issuer's metadata. */
  readonly authzUrl?: string | undefined
  readonly tokenUrl?: string | undefined
}

/** Undefined until the endpoints are known. */
export function loginOf(
  { clientId, scopes, authzUrl, tokenUrl }: LoginSettings,
  metadata: ProviderMetadata | undefined,
): Login | undefined {
  const authz = authzUrl ?? metadata?.authorization_endpoint
  const token = tokenUrl ?? metadata?.token_endpoint
  if (authz === undefined || token === undefined) return undefined
  return {
    client: clientId,
    grant_types: ['authz_code', 'device_code'],
    authz,
    token,
    scopes,
    ports: [10_000, 10_010],
  }
}
