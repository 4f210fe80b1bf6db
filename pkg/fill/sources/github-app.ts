import { createPrivateKey, hash, type KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'
import * as z from 'zod'
import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Credential } from '../egress/egress.ts'
import { SourceError } from './errors.ts'
import { bearer, invalid, type SecretData, textOf } from './secrets.ts'
import { parseJson, type Upstream, unexpected } from './upstream.ts'

/** Something that opens the API of GitHub; `renew` says that what it gave last was refused. */
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
  /** Tells keys apart: only who has the key gets what it opened. */
  readonly keyId: string
}

interface Token {
  readonly token: string
  readonly expiresAtMs: number
}

const Installation = z.object({ token: z.string().min(1).max(4096), expires_at: z.string() })

const earlyMs = 5 * 60_000

/** Tokens of installations, by API, app, installation and key. */
export class GithubApps {
  readonly #upstream: Upstream
  readonly #clock: Clock
  readonly #tokens = new Bounded<Token>({ maxEntries: 1000 })

  constructor(upstream: Upstream, clock: Clock) {
    this.#upstream = upstream
    this.#clock = clock
  }

  /**
   * Reads `token`, or the three keys of an app.
   *
   * @param read of the Secret; again where its token is refused
   * @throws SourceError SecretInvalid
   */
  async credentialOf(
    read: () => Promise<SecretData>,
    name: string,
    apiUrl: string,
  ): Promise<GithubCredential> {
    const data = await read()
    const token = textOf(data, 'token', name)
    if (token === undefined) return this.#ofApp(appOf(data, name), apiUrl)
    let credential = bearer(token)
    return {
      id: credential.id,
      get: async () => credential,
      // It may have been changed since: what is refused is the token of before.
      renew: async () => {
        const { id } = credential
        const now = textOf(await read(), 'token', name)
        if (now !== undefined) credential = bearer(now)
        return credential.id !== id
      },
    }
  }

  #ofApp(app: App, apiUrl: string): GithubCredential {
    const id = `app ${app.appId} ${app.installId} ${app.keyId}`
    const key = `${apiUrl} ${id}`
    let renewed = false
    return {
      id,
      get: async (signal) => {
        const known = this.#tokens.get(key)
        const isFresh = known !== undefined && known.expiresAtMs - earlyMs > this.#clock()
        const { token } = isFresh ? known : await this.#exchange(app, apiUrl, key, signal)
        return { id, authorization: `Bearer ${token}` }
      },
      renew: async () => {
        if (renewed) return false
        this.#tokens.delete(key)
        renewed = true
        return true
      },
    }
  }

  async #exchange(app: App, apiUrl: string, key: string, signal: AbortSignal): Promise<Token> {
    const nowSeconds = Math.floor(this.#clock() / 1000)
    const jwt = await new SignJWT({})
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(app.appId)
      .setIssuedAt(nowSeconds - 60)
      .setExpirationTime(nowSeconds + 9 * 60)
      .sign(app.key)
    const url = `${apiUrl}/app/installations/${app.installId}/access_tokens`
    const credential = { id: `jwt ${app.appId} ${app.keyId}`, authorization: `Bearer ${jwt}` }
    const answer = await this.#upstream.ask(url, {
      method: 'POST',
      credential,
      signal,
      urgent: true,
    })
    if (answer.status === 401 || answer.status === 404) {
      throw new SourceError(
        'SecretInvalid',
        `GitHub refuses app ${app.appId} with installation ${app.installId} (status ${answer.status}): check githubAppID, githubInstallID and githubPrivateKey`,
      )
    }
    if (answer.status !== 201) throw unexpected(answer)
    const { token, expires_at } = parseJson(answer, Installation)
    const expiresAtMs = Date.parse(expires_at)
    const fresh = { token, expiresAtMs: Number.isFinite(expiresAtMs) ? expiresAtMs : 0 }
    this.#tokens.set(key, fresh)
    return fresh
  }
}

function appOf(data: SecretData, name: string): App {
  const id = (key: string): string => {
    const text = textOf(data, key, name)
    if (text === undefined) {
      throw invalid(
        name,
        key,
        'is missing: give token, or githubAppID, githubInstallID and githubPrivateKey',
      )
    }
    // An app has a client id besides its number, and both are taken as issuer.
    if (/^[A-Za-z0-9._-]{1,64}$/.test(text)) return text
    throw invalid(name, key, 'is no id of GitHub')
  }
  const [appId, installId] = [id('githubAppID'), id('githubInstallID')]
  const key = privateKeyOf(data, name)
  const keyId = hash('sha256', data['githubPrivateKey'] ?? '').slice(0, 16)
  return { appId, installId, key, keyId }
}

/** PEM, or base64 of that; PKCS#1, as GitHub gives it, or PKCS#8. */
function privateKeyOf(data: SecretData, name: string): KeyObject {
  const key = 'githubPrivateKey'
  const text = data[key]?.toString('utf8').trim()
  if (text === undefined || text === '') throw invalid(name, key, 'is missing')
  const pem = text.includes('-----BEGIN') ? text : Buffer.from(text, 'base64').toString('utf8')
  try {
    const read = createPrivateKey(pem)
    if (read.asymmetricKeyType === 'rsa') return read
  } catch {
    // Said below, without the cause: it may quote the key.
  }
  throw invalid(name, key, 'holds no RSA private key in PEM, or base64 of one')
}
