import type { OidcAuthOptions } from '../auth/auth.ts'

/** Tells clients which issuer gives tokens. */
export const metadataPath = '/.well-known/oauth-protected-resource'

/** The path that answers name, and those that clients try by themselves (RFC 9728, section 3.1). */
export function metadataPaths(route: string, baseUrl = 'http://localhost'): ReadonlySet<string> {
  const { pathname } = new URL(baseUrl + route)
  return new Set([metadataPath, metadataPath + route, metadataPath + pathname])
}

/** @see https://www.rfc-editor.org/rfc/rfc9728#section-2 */
export const resourceMetadata = (
  resource: string,
  { issuerUrl, scopes }: Pick<OidcAuthOptions, 'issuerUrl' | 'scopes'>,
) => ({
  resource,
  authorization_servers: [issuerUrl],
  scopes_supported: scopes,
  bearer_methods_supported: ['header'],
  resource_name: 'Depot',
})
