import type { JWTPayload } from 'jose'
import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import { quote, Refusal } from './refusal.ts'

/** Limit of claims in a message. */
const maxNames = 20

/**
 * The groups of a person in a token.
 *
 * @param claim name of the claim, otherwise a path through objects such as `realm_access.roles`
 * @throws Refusal where the claim is missing, or not a string or a list of strings
 */
export function groupsIn(payload: JWTPayload, claim: string): readonly string[] {
  const value = valueAt(payload, claim)
  if (value === undefined) throw missing(payload, claim)
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

function missing(payload: JWTPayload, claim: string): Refusal {
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
