import { errors, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose'
import type { Issuer } from './issuer.ts'
import { Refusal } from './refusal.ts'

/** Whom a token of the issuer speaks for. */
export interface Verified {
  readonly kind: 'user' | 'machine'
  readonly subject: string
  readonly groups: readonly string[]
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number
}

export interface TokenRules {
  readonly issuerUrl: string
  /** Audiences of people: the client of `terraform login` and that of the explorer. */
  readonly clientIds: readonly string[]
  readonly groupsClaim: string
  /** Also take tokens of other clients, as programs. */
  readonly allowClientCredentials: boolean
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/** Public keys only: with `none` or an HMAC of the public key, anybody could sign. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]
/** By how much the clocks of the issuer and of this machine may differ. */
const leewaySeconds = 30
/** Of the group of a program. A person who comes with such a group does not get it, wherever it is from. */
const machinePrefix = 'client:'
/** Of JWTs that an issuer signs, those that are for somebody to show. */
const tokenTypes: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/at+jwt'])
const maxCandidateKeys = 10
const again = 'log in again, for example with terraform login'

/**
 * Checks a token of the issuer (RFC 7519, RFC 9068): ID and access tokens alike, because `terraform login` keeps the
 * latter.
 *
 * @throws Refusal
 */
export async function verifyToken(
  token: string,
  issuer: Issuer,
  rules: TokenRules,
): Promise<Verified> {
  const { payload, protectedHeader } = await checkSignature(token, issuer, rules)
  const typ: unknown = protectedHeader.typ
  if (typ !== undefined && !(typeof typ === 'string' && tokenTypes.has(typ.toLowerCase()))) {
    throw new Refusal('claims', `the token is neither an ID token nor an access token: ${again}`)
  }
  const { sub, exp = 0 } = payload
  if (typeof sub !== 'string' || sub === '') {
    throw new Refusal('claims', 'the token names nobody: its claim sub is not a text')
  }
  const expiresAtMs = (exp + leewaySeconds) * 1000
  const audiences = [payload.aud ?? []].flat()
  if (rules.clientIds.some((clientId) => audiences.includes(clientId))) {
    return { kind: 'user', subject: sub, groups: groupsOf(payload, rules), expiresAtMs }
  }
  if (!rules.allowClientCredentials) {
    throw new Refusal(
      'audience',
      `the token is for another client of the issuer: ${again}, or have the server started with --oidc-allow-client-credentials if you are a program`,
    )
  }
  return { kind: 'machine', subject: sub, groups: [machinePrefix + sub], expiresAtMs }
}

async function checkSignature(
  token: string,
  issuer: Issuer,
  rules: TokenRules,
): Promise<JWTVerifyResult> {
  try {
    return await verifyWithKeys(token, issuer, rules)
  } catch (thrown) {
    if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw refusalOf(thrown)
  }
  if (await issuer.missesKey()) {
    try {
      return await verifyWithKeys(token, issuer, rules)
    } catch (thrown) {
      throw refusalOf(thrown)
    }
  }
  throw new Refusal('signature', `the token is signed with a key that the issuer lacks: ${again}`)
}

async function verifyWithKeys(
  token: string,
  issuer: Issuer,
  { issuerUrl, clock }: TokenRules,
): Promise<JWTVerifyResult> {
  const { keys } = issuer
  if (keys === undefined) {
    throw new Refusal('cluster_away', 'the keys of the OIDC issuer are not known yet: try again')
  }
  const options = {
    algorithms,
    issuer: issuerUrl,
    clockTolerance: leewaySeconds,
    currentDate: new Date(clock()),
    requiredClaims: ['exp'],
  }
  try {
    return await jwtVerify(token, keys, options)
  } catch (thrown) {
    if (!(thrown instanceof errors.JWKSMultipleMatchingKeys)) throw thrown
    let tried = 0
    for await (const key of thrown) {
      try {
        return await jwtVerify(token, key, options)
      } catch (err) {
        tried += 1
        const next =
          err instanceof errors.JWSSignatureVerificationFailed && tried < maxCandidateKeys
        if (!next) throw err
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

function refusalOf(thrown: unknown): unknown {
  if (thrown instanceof Refusal) return thrown
  if (thrown instanceof errors.JWTExpired) {
    return new Refusal('time', `the token has expired: ${again}`)
  }
  if (thrown instanceof errors.JWTClaimValidationFailed) {
    if (thrown.claim === 'nbf' && thrown.reason === 'check_failed') {
      return new Refusal('time', 'the token is not valid yet: check the clocks of both machines')
    }
    return thrown.claim === 'iss'
      ? new Refusal('issuer', `the token is of another issuer: ${again}`)
      : new Refusal(
          'claims',
          `the claim ${thrown.claim} of the token is missing or wrong: ${again}`,
        )
  }
  if (thrown instanceof errors.JOSEAlgNotAllowed) {
    return new Refusal('signature', `the token is not signed with a key pair: ${again}`)
  }
  // Whatever is wrong with a token is for its sender to mend: a key too short, a header nobody understands.
  return new Refusal('signature', `the signature of the token is not valid: ${again}`)
}

/** @throws Refusal where the claim is missing or no list of texts */
function groupsOf(payload: JWTPayload, { groupsClaim }: TokenRules): readonly string[] {
  const value = Object.hasOwn(payload, groupsClaim) ? payload[groupsClaim] : undefined
  if (value === undefined || value === null) {
    throw new Refusal(
      'groups',
      `the token has no claim ${JSON.stringify(groupsClaim)}: ask for the scope that adds it, or have the server started with another --oidc-groups-claim`,
    )
  }
  if (!Array.isArray(value) || !value.every((group) => typeof group === 'string')) {
    throw new Refusal(
      'groups',
      `the claim ${JSON.stringify(groupsClaim)} of the token is not a list of texts: have the issuer send one`,
    )
  }
  return value.filter((group) => !group.startsWith(machinePrefix))
}
