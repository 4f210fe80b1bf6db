import { createHash } from 'node:crypto'
import type { Credential } from '../egress/egress.ts'
import { SourceError } from './errors.ts'

/** The data of a Secret; undefined where there is none. */
export type Secrets = (
  namespace: string,
  name: string,
) => Promise<Readonly<Record<string, Buffer>> | undefined>

export type SecretData = Readonly<Record<string, Buffer>>

/** What a Secret of git and archive sources holds. */
export interface Access {
  readonly credential?: Credential | undefined
  /** PEM. */
  readonly ca?: string | undefined
}

/** @throws SourceError SecretInvalid */
export async function readSecret(
  secrets: Secrets,
  namespace: string,
  name: string,
): Promise<SecretData> {
  const data = await secrets(namespace, name)
  if (data !== undefined) return data
  throw new SourceError(
    'SecretInvalid',
    `there is no Secret "${name}" in the namespace ${namespace}: create it, or name another one`,
  )
}

/** Reads `token`, or `username` and `password`, and `ca.crt`. @throws SourceError SecretInvalid */
export function accessOf(data: SecretData, name: string): Access {
  const ca = caOf(data, name)
  const token = textOf(data, 'token', name)
  const username = textOf(data, 'username', name)
  const password = textOf(data, 'password', name)
  if (token !== undefined) return { ca, credential: bearer(token) }
  if (username !== undefined && password !== undefined) {
    return { ca, credential: basic(username, password) }
  }
  if (username !== undefined || password !== undefined) {
    const missing = username === undefined ? 'username' : 'password'
    throw invalid(name, missing, 'is missing: username and password belong together')
  }
  if (ca !== undefined) return { ca }
  throw invalid(name, 'token', 'is missing: give token, or username and password, or ca.crt')
}

/** One line of visible characters; undefined where the key is absent. @throws SourceError SecretInvalid */
export function textOf(data: SecretData, key: string, name: string): string | undefined {
  const bytes = data[key]
  if (bytes === undefined) return undefined
  const text = bytes.toString('utf8').trim()
  if (text === '') throw invalid(name, key, 'is empty')
  if (text.length > 4096 || !/^[\x20-\x7e]+$/.test(text)) {
    throw invalid(name, key, 'holds other than visible ASCII characters on one line')
  }
  return text
}

function caOf(data: SecretData, name: string): string | undefined {
  const pem = data['ca.crt']?.toString('utf8')
  if (pem === undefined) return undefined
  if (pem.length <= 1024 * 1024 && pem.includes('-----BEGIN CERTIFICATE-----')) return pem
  throw invalid(name, 'ca.crt', 'holds no certificate in PEM')
}

export function invalid(name: string, key: string, why: string): SourceError {
  return new SourceError('SecretInvalid', `key "${key}" of the Secret "${name}" ${why}`)
}

export function bearer(token: string): Credential {
  return credentialOf(`Bearer ${token}`)
}

function basic(username: string, password: string): Credential {
  return credentialOf(`Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`)
}

function credentialOf(authorization: string): Credential {
  const id = createHash('sha256').update(authorization).digest('hex').slice(0, 16)
  return { id, authorization }
}
