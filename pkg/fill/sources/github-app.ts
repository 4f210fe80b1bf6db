import { createPrivateKey, type KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'
import * as z from 'zod'
import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Credential } from '../egress/egress.ts'
import { expectStatus, FillError, parseJson } from './errors.ts'
import { bearer, invalid, type SecretData, shortHash, textOf } from './secrets.ts'
import type { UpstreamClient } from './upstream.ts'

/** Opens the API of GitHub. Call `renew` if the last credential was refused. */
export interface GithubCredential {
  /** Stays the same when tokens change. */
  readonly id: string
  get(signal: AbortSignal): Promise<Credential>
  /** @returns whether another try may help */
  renew(): Promise<boolean>
}

interface App {
  readonly appId: string
  readonly installId: string
  readonly key: KeyObject
  /** Names the API, app, installation and key: only the owner of the key gets its tokens. */
  readonly id: string
  readonly apiUrl: string
}

interface Token {
  readonly token: string
  readonly expiresAtMs: number
}

const Installation = z.object({ token: z.string().min(1).max(4096), expires_at: z.string() })

const earlyMs = 5 * 60_000

/** Tokens of installations of GitHub Apps. */
export class GithubApps {
  readonly #upstream: UpstreamClient
  readonly #clock: Clock
  readonly #tokens = new Bounded<Token>({ maxEntries: 1000 })

  constructor(upstream: UpstreamClient, clock: Clock) {
    this.#upstream = upstream
    this.#clock = clock
  }

  /**
   * Reads `token`, or the three keys of an app.
   *
   * @param read reads the Secret; called again if its token is refused
   * @throws FillError SecretInvalid
   */
  async credentialOf(
    read: () => Promise<SecretData>,
    name: string,
    apiUrl: string,
  ): Promise<GithubCredential> {
    const data = await read()
    const token = textOf(data, 'token', name)
    if (token === undefined) return this.#ofApp(appOf(data, name, apiUrl))
    let credential = bearer(token)
    return {
      id: credential.id,
      get: async () => credential,
      // The Secret may hold another token by now.
      renew: async () => {
        const { id } = credential
        const now = textOf(await read(), 'token', name)
        if (now !== undefined) credential = bearer(now)
        return credential.id !== id
      },
    }
  }

  #ofApp(app: App): GithubCredential {
    const { id } = app
    let renewed = false
    return {
      id,
      get: async (signal) => {
        const known = this.#tokens.get(id)
        const isFresh = known !== undefined && known.expiresAtMs - earlyMs > this.#clock()
        const { token } = isFresh ? known : await this.#exchange(app, signal)
        return { id, authorization: `Bearer ${token}` }
      },
      renew: async () => {
        if (renewed) return false
        this.#tokens.delete(id)
        renewed = true
        return true
      },
    }
  }

  async #exchange({ appId, installId, key, id, apiUrl }: App, signal: AbortSignal): Promise<Token> {
    const nowSeconds = Math.floor(this.#clock() / 1000)
    const jwt = await new SignJWT({})
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(appId)
      .setIssuedAt(nowSeconds - 60)
      .setExpirationTime(nowSeconds + 9 * 60)
      .sign(key)
    const answer = await this.#upstream.ask(
      `${apiUrl}/app/installations/${installId}/access_tokens`,
      {
        method: 'POST',
        credential: { id: `jwt ${id}`, authorization: `Bearer ${jwt}` },
        signal,
        urgent: true,
      },
    )
    if (answer.status === 401 || answer.status === 404) {
      throw new FillError(
        'SecretInvalid',
        `GitHub refuses app ${appId} with installation ${installId} (status ${answer.status}): check githubAppID, githubInstallID and githubPrivateKey`,
      )
    }
    const { token, expires_at } = parseJson(expectStatus(answer, 201), Installation)
    const expiresAtMs = Date.parse(expires_at)
    const fresh = { token, expiresAtMs: Number.isFinite(expiresAtMs) ? expiresAtMs : 0 }
    this.#tokens.set(id, fresh)
    return fresh
  }
}

function appOf(data: SecretData, name: string, apiUrl: string): App {
  const idIn = (key: string): string => {
    const text = textOf(data, key, name)
    if (text === undefined) {
      const why = 'is missing: give token, or githubAppID, githubInstallID and githubPrivateKey'
      throw invalid(name, key, why)
    }
    // GitHub takes the number of an app or its client id as issuer.
    if (/^[A-Za-z0-9._-]{1,64}$/.test(text)) return text
    throw invalid(name, key, 'is not an id of GitHub')
  }
  const [appId, installId] = [idIn('githubAppID'), idIn('githubInstallID')]
  const key = privateKeyOf(data, name)
  const keyId = shortHash(data['githubPrivateKey'] ?? '')
  return { appId, installId, key, apiUrl, id: `app ${apiUrl} ${appId} ${installId} ${keyId}` }
}

/** PEM, or base64 of PEM; PKCS#1, as GitHub gives it, or PKCS#8. */
function privateKeyOf(data: SecretData, name: string): KeyObject {
  const key = 'githubPrivateKey'
  const text = data[key]?.toString('utf8').trim()
  if (text === undefined || text === '') throw invalid(name, key, 'is missing')
  const pem = text.includes('-----BEGIN') ? text : Buffer.from(text, 'base64').toString('utf8')
  try {
    const read = createPrivateKey(pem)
    if (read.asymmetricKeyType === 'rsa') return read
  } catch {
    // The cause may quote the key, so the error below does not carry it.
  }
  throw invalid(name, key, 'holds no RSA private key in PEM, or base64 of one')
}
