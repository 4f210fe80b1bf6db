import { createHash } from 'node:crypto'
import { decodeJwt } from 'jose'
import { ResponseBodyError, refreshTokenGrant } from 'openid-client'
import type { Clock } from '../base/pacing/pacing.ts'
import type { Logger } from '../base/telemetry/telemetry.ts'
import type { Issuer } from './issuer.ts'
import { type Session, sessionOf } from './session.ts'

/** How long a result is kept for requests that still have the previous cookie. */
const keptMs = 30_000

/** Gets new tokens for a session. @throws Error if the issuer is unreachable; then the session stays unchanged */
export type Grant = (session: Session) => Promise<Session>

/**
 * Asks the issuer. A session loses its tokens if the issuer refuses the refresh token, or answers for another subject, which
 * OpenID Connect Core 12.2 forbids.
 */
export function issuerGrant(issuer: Issuer, log: Logger): Grant {
  return async (session) => {
    const configuration = await issuer.configuration()
    try {
      const tokens = await refreshTokenGrant(configuration, session.refreshToken ?? '')
      const subject = tokens.claims()?.sub
      if (subject !== undefined && subject !== subjectOf(session)) {
        log.error('the issuer answered a refresh with a token of another subject, session ended')
        return withoutTokens(session)
      }
      const renewed = sessionOf(tokens, session.signedInAt, session)
      // A refresh without a new ID token would be repeated for every page.
      return tokens.id_token === undefined ? { ...renewed, refreshToken: undefined } : renewed
    } catch (error) {
      if (error instanceof ResponseBodyError && error.status < 500) return withoutTokens(session)
      throw error
    }
  }
}

function subjectOf({ idToken }: Session): string | undefined {
  return idToken === undefined ? undefined : decodeJwt(idToken).sub
}

function withoutTokens({ devToken, signedInAt }: Session): Session {
  return { devToken, signedInAt }
}

interface Flight {
  readonly result: Promise<Session>
  endsAt: number
}

/** Refreshes each session once, however many requests need it at the same time or a moment later. */
export function sharedGrant(grant: Grant, clock: Clock): Grant {
  const flights = new Map<string, Flight>()
  return (session) => {
    const now = clock()
    for (const [key, { endsAt }] of flights) if (endsAt <= now) flights.delete(key)
    const key = createHash('sha256')
      // Some issuers never change the refresh token. The ID token distinguishes one cookie from the next.
      .update(`${session.refreshToken} ${session.idToken}`)
      .digest('base64url')
    const known = flights.get(key)
    if (known !== undefined) return withOwn(known.result, session)
    const flight: Flight = { result: grant(session), endsAt: Number.POSITIVE_INFINITY }
    flights.set(key, flight)
    flight.result.then(
      () => (flight.endsAt = clock() + keptMs),
      () => flights.delete(key),
    )
    return withOwn(flight.result, session)
  }
}

/** The tokens of a result with the developer token of the requesting cookie. */
async function withOwn(result: Promise<Session>, { devToken }: Session): Promise<Session> {
  return { ...(await result), devToken }
}
