import * as z from 'zod'
import type { Login } from '../../api/registry/registry.ts'
import { ReasonError } from '../../base/errors/errors.ts'

const url = z.url({ protocol: /^https?$/ })

/** The fields of an OpenID provider's metadata that are read (OpenID Connect Discovery 1.0, section 3). */
const Metadata = z.object({
  issuer: z.string(),
  jwks_uri: url,
  authorization_endpoint: url.optional(),
  token_endpoint: url.optional(),
})
export type ProviderMetadata = z.infer<typeof Metadata>

/**
 * Checks the metadata of an issuer.
 *
 * @param option that has its URL
 * @throws ReasonError WrongIssuer where its name differs in any letter (section 4.3), which only a person can correct
 * @throws Error if it is not valid metadata
 */
export function parseMetadata(raw: unknown, issuerUrl: string, option: string): ProviderMetadata {
  const parsed = Metadata.safeParse(raw)
  if (!parsed.success) {
    const fields = parsed.error.issues.map(({ path }) => path.join('.')).join(', ')
    throw new Error(`the metadata of the issuer is not valid: ${fields}`)
  }
  const { issuer, jwks_uri } = parsed.data
  if (issuer !== issuerUrl) {
    throw new ReasonError(
      'WrongIssuer',
      `${option}: the issuer at ${issuerUrl} calls itself ${JSON.stringify(issuer.slice(0, 200))}: write it exactly like that, a slash at the end included`,
    )
  }
  if (issuerUrl.startsWith('https:') && !jwks_uri.startsWith('https:')) {
    throw new Error('the issuer wants its keys fetched without encryption: jwks_uri is not https')
  }
  return parsed.data
}

/** Asymmetric key types: a published key cannot be a secret. */
const keyTypes: ReadonlySet<string> = new Set(['RSA', 'EC', 'OKP', 'AKP'])

const KeySet = z.object({ keys: z.array(z.unknown()).max(200) })
const Key = z.looseObject({ kty: z.string() })
export interface KeySet {
  readonly keys: z.infer<typeof Key>[]
}

/**
 * The keys of an issuer that can sign tokens. Unknown types are omitted (RFC 7517, section 5).
 *
 * @throws Error if there are none
 */
export function parseKeySet(raw: unknown): KeySet {
  const published = KeySet.safeParse(raw).data?.keys
  if (published === undefined) {
    throw new Error(
      'the keys of the issuer are not a key set: it must have a list "keys" of at most 200',
    )
  }
  const keys = published.flatMap((key) => Key.safeParse(key).data ?? [])
  const usable = keys.filter(({ kty }) => keyTypes.has(kty))
  if (usable.length > 0) return { keys: usable }
  throw new Error(
    `the issuer publishes no keys that can sign tokens: ${published.length} keys, none of the types ${[...keyTypes].join(', ')}`,
  )
}

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
