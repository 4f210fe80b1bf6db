import type { TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client'
import type { Session } from './session.ts'

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers

/**
 * A session with the tokens of the issuer. The access token is not used, so it is not kept.
 *
 * @param signedInAt milliseconds since 1970
 * @param before the session that is refreshed; tokens that the issuer does not send again are kept
 */
export function sessionOf(tokens: Tokens, signedInAt: number, before?: Session): Session {
  const claims = tokens.claims()
  return {
    idToken: tokens.id_token ?? before?.idToken,
    refreshToken: tokens.refresh_token ?? before?.refreshToken,
    expiresAt: claims === undefined ? before?.expiresAt : claims.exp * 1000,
    devToken: before?.devToken,
    signedInAt,
  }
}
