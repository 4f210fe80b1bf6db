import {
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyResult,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose'
import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { TokenIssuer } from './issuer.ts'
import { quote, Refusal } from './refusal.ts'
import { unverifiedClaims } from './session.ts'

/** The caller of a token of the issuer. */
export interface VerifiedToken {
  readonly kind: 'user' | 'machine'
  readonly subject: string
  readonly groups: readonly string[]
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number
}

/** How a token is checked, whatever it may do. */
export interface SignatureRules {
  readonly issuerUrl: string
  readonly clock: Clock
  /** Says how the caller gets another token. */
  readonly again?: string
}

export interface TokenRules extends SignatureRules {
  /** Audiences of people: the clients of `terraform login` and of the explorer. */
  readonly clientIds: readonly string[]
  readonly groupsClaim: string
  /** Also accept tokens of other clients, as programs. */
  readonly allowClientCredentials: boolean
  /** Whether a group is one that only tokens of other issuers have. Default: none is. */
  readonly isReserved?: ((group: string) => boolean) | undefined
}

/** The claims of a token whose signature, issuer and times are valid. */
export interface SignedClaims {
  readonly payload: JWTPayload
  readonly subject: string
  /** In the order of the token. */
  readonly audiences: readonly string[]
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number
}

/** Public keys only: with `none` or an HMAC of the public key, anyone could sign. */
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
/** Tolerated difference between the clocks of the issuer and this machine. */
const leewaySeconds = 30
/** Prefix of the group of a program. */
export const machinePrefix = 'client:'
/** Types of JWTs that callers present. */
const tokenTypes: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/at+jwt'])
const maxCandidateKeys = 10
const logIn = 'log in again, for example with terraform login'

/**
 * Verifies a token of the issuer of people. Both ID and access tokens are accepted, because `terraform login` keeps the
 * latter.
 *
 * @throws Refusal
 */
export async function verifyToken(
  token: string,
  issuer: TokenIssuer,
  rules: TokenRules,
): Promise<VerifiedToken> {
  const { clientIds, groupsClaim, isReserved = () => false } = rules
  const { payload, subject, audiences, expiresAtMs } = await verifySigned(token, issuer, rules)
  if (clientIds.some((clientId) => audiences.includes(clientId))) {
    // A person cannot have the group of a program, even if the issuer says so.
    const isOfPerson = (group: string) => !group.startsWith(machinePrefix) && !isReserved(group)
    const groups = groupsIn(payload, groupsClaim).filter(isOfPerson)
    return { kind: 'user', subject, groups, expiresAtMs }
  }
  if (!rules.allowClientCredentials) {
    throw new Refusal(
      'WrongAudience',
      `the token's claim aud is ${quote(payload.aud)}, and this registry takes tokens for ${clientIds.map(quote).join(' and ')}: have the issuer add that audience to the tokens of its client (in Keycloak an audience mapper) and log in again with terraform login, or, if you are a program, have the server started with --oidc-allow-client-credentials`,
    )
  }
  return { kind: 'machine', subject, groups: [machinePrefix + subject], expiresAtMs }
}

/**
 * Verifies what every token of an issuer must have (RFC 7519, RFC 9068).
 *
 * @throws Refusal
 */
export async function verifySigned(
  token: string,
  issuer: TokenIssuer,
  rules: SignatureRules,
): Promise<SignedClaims> {
  const { again = logIn } = rules
  const { payload, protectedHeader } = await checkSignature(token, issuer, { ...rules, again })
  const typ: unknown = protectedHeader.typ
  if (typ !== undefined && !(typeof typ === 'string' && tokenTypes.has(typ.toLowerCase()))) {
    throw new Refusal(
      'InvalidClaims',
      `the token's header typ is ${quote(typ)}, which is neither an ID token nor an access token: ${again}`,
    )
  }
  const { sub: subject, exp = 0 } = payload
  if (typeof subject !== 'string' || subject === '') {
    throw new Refusal(
      'InvalidClaims',
      `the token's claim sub is ${quote(subject)}, and must be a text that names the caller: have the issuer add it`,
    )
  }
  const expiresAtMs = (exp + leewaySeconds) * 1000
  return { payload, subject, audiences: [payload.aud ?? []].flat(), expiresAtMs }
}

async function checkSignature(
  token: string,
  issuer: TokenIssuer,
  rules: Required<SignatureRules>,
): Promise<JWTVerifyResult> {
  let missing: boolean
  const { again, clock } = rules
  try {
    return await verifyWithKeys(token, issuer, rules)
  } catch (thrown) {
    const unmatched = thrown instanceof errors.JWKSNoMatchingKey
    if (!unmatched && !(thrown instanceof errors.JWSSignatureVerificationFailed)) {
      throw refusalOf(thrown, token, rules)
    }
    missing = unmatched && !knowsKeyOf(token, issuer)
  }
  // The key may be new, or its id may have been reused.
  const look = await issuer.lookAgain()
  if (look === 'changed') {
    try {
      return await verifyWithKeys(token, issuer, rules)
    } catch (thrown) {
      throw refusalOf(thrown, token, rules)
    }
  }
  if (missing && look === 'impossible' && mayBeNewer(token, issuer, clock())) {
    throw new Refusal(
      'IssuerUnavailable',
      `the token is signed with a key that is not known yet: the keys of ${issuer.name} are fetched again in a moment, try again then`,
      { retryAfterSeconds: issuer.retryAfterSeconds },
    )
  }
  throw new Refusal(
    'InvalidTokenSignature',
    missing
      ? `the token is signed with a key that the issuer does not publish: ${again}`
      : `the signature of the token is not valid: ${again}`,
  )
}

/** Whether there is a key with that id, of any kind. */
function knowsKeyOf(token: string, issuer: TokenIssuer): boolean {
  const { kid } = headerOf(token)
  const known = issuer.keys?.jwks()?.keys ?? []
  return kid !== undefined && known.some((key) => key.kid === kid)
}

/** Whether the key of a token may be newer than the fetched keys. The token's issue time is not verified yet. */
function mayBeNewer(token: string, issuer: TokenIssuer, nowMs: number): boolean {
  const { iat } = unverifiedClaims(token) ?? {}
  if (typeof iat !== 'number') return false
  const [issuedMs, leewayMs] = [iat * 1000, leewaySeconds * 1000]
  return issuedMs + leewayMs > issuer.succeededMs && issuedMs - leewayMs <= nowMs
}

async function verifyWithKeys(
  token: string,
  issuer: TokenIssuer,
  { issuerUrl, clock }: SignatureRules,
): Promise<JWTVerifyResult> {
  const { keys } = issuer
  if (keys === undefined) {
    throw new Refusal(
      'IssuerUnavailable',
      `the keys of ${issuer.name} are not known yet, so its tokens cannot be checked: try again in a moment`,
      { retryAfterSeconds: issuer.retryAfterSeconds },
    )
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
        // An unusable key says nothing about the others; a wrong claim is wrong with every key.
        const isOver =
          err instanceof errors.JWTExpired || err instanceof errors.JWTClaimValidationFailed
        if (isOver || tried >= maxCandidateKeys) throw err
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

function refusalOf(
  thrown: unknown,
  token: string,
  { issuerUrl, clock, again }: Required<SignatureRules>,
): unknown {
  if (thrown instanceof Refusal) return thrown
  if (thrown instanceof errors.JWTExpired) {
    const { exp } = thrown.payload
    const agoSeconds = Math.round(clock() / 1000 - (exp ?? 0))
    return new Refusal(
      'TokenExpired',
      `the token expired ${agoSeconds} s ago (claim exp is ${exp}): ${again}`,
    )
  }
  if (thrown instanceof errors.JWTClaimValidationFailed)
    return refusalOfClaim(thrown, issuerUrl, again)
  if (thrown instanceof errors.JOSEAlgNotAllowed) {
    const { alg } = headerOf(token)
    return new Refusal(
      'InvalidTokenSignature',
      `the token is signed with alg ${quote(alg)}, and must be signed with one of ${algorithms.join(', ')}: ${again}`,
    )
  }
  // All other mistakes are for the sender to correct: a short key, an unknown header.
  return new Refusal('InvalidTokenSignature', `the signature of the token is not valid: ${again}`)
}

function refusalOfClaim(
  { claim, reason, payload }: errors.JWTClaimValidationFailed,
  issuerUrl: string,
  again: string,
): Refusal {
  const found = quote(payload[claim])
  if (claim === 'nbf' && reason === 'check_failed') {
    return new Refusal(
      'TokenExpired',
      `the token is not valid yet (claim nbf is ${found}): check the clocks of both machines`,
    )
  }
  if (claim === 'iss') {
    return new Refusal(
      'WrongIssuer',
      `the token was issued by ${found}, and this registry takes tokens of ${quote(issuerUrl)}: ${again}`,
    )
  }
  return new Refusal(
    'InvalidClaims',
    `the token's claim ${claim} is ${found}, which is missing or not of the right type: ${again}`,
  )
}

function headerOf(token: string): ProtectedHeaderParameters {
  try {
    return decodeProtectedHeader(token)
  } catch {
    return {}
  }
}

/** Limit of claims in a message. */
const maxNames = 20

/**
 * The groups of a person in a token.
 *
 * @param claim name of the claim, otherwise a path through objects such as `realm_access.roles`
 * @throws Refusal where the claim is missing, or not a string or a list of strings
 */
function groupsIn(payload: JWTPayload, claim: string): readonly string[] {
  const value = valueAt(payload, claim)
  if (value === undefined) throw claimMissing(payload, claim)
  const groups = typeof value === 'string' ? [value] : value
  if (isTexts(groups)) return groups
  throw new Refusal(
    'GroupsMissing',
    `the token's claim ${quote(claim)} is ${quote(value)}, and must be a list of texts, or one text: have the issuer send one, or have the server started with another --oidc-groups-claim`,
  )
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function valueAt(payload: JWTPayload, claim: string): unknown {
  if (Object.hasOwn(payload, claim)) return payload[claim]
  return claim
    .split('.')
    .reduce<unknown>(
      (value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      payload,
    )
}

function claimMissing(payload: JWTPayload, claim: string): Refusal {
  const start = `the token has no claim ${quote(claim)}`
  // Entra ID omits more than 200 groups, and names a URL for them instead.
  if (Object.hasOwn(payload, '_claim_names') || payload['hasgroups'] === true) {
    return new Refusal(
      'GroupsMissing',
      `${start}, because the issuer found too many groups to put them into it: have it send only the groups that are assigned to the application`,
    )
  }
  const names = Object.keys(payload).slice(0, maxNames).map(quote).join(', ')
  return new Refusal(
    'GroupsMissing',
    `${start}; it has ${names}: ask for the scope that adds it, add it to the client at the issuer, or have the server started with another --oidc-groups-claim. Some issuers, such as Keycloak, leave the claim out for a person in no group: then have the person added to one`,
  )
}
