import { hash } from 'node:crypto'
import { ReasonError } from '../../base/errors/errors.ts'
import type { Credential } from '../egress/egress.ts'
import { FillError } from './errors.ts'

export type SecretData = Readonly<Record<string, Buffer>>

/** Reads the data of a Secret; undefined if it does not exist. */
export type ReadSecret = (namespace: string, name: string) => Promise<SecretData | undefined>

/** The credential and authorities that a Secret of a source holds. */
export interface SourceAccess {
  readonly credential?: Credential | undefined
  /** PEM. */
  readonly ca?: string | undefined
}

/** @throws FillError SecretInvalid */
export async function readSecret(
  read: ReadSecret,
  namespace: string,
  name: string,
): Promise<SecretData> {
  const data = await read(namespace, name).catch((error: unknown) => {
    if (!(error instanceof ReasonError && error.reason === 'Forbidden')) throw error
    throw new FillError(
      'SecretInvalid',
      `may not read the Secret "${name}" in the namespace ${namespace}: add ${namespace} to controller.secretNamespaces of the chart, or bind a Role with get on it`,
      { cause: error },
    )
  })
  if (data !== undefined) return data
  throw new FillError(
    'SecretInvalid',
    `there is no Secret "${name}" in the namespace ${namespace}: create it, or name another one`,
  )
}

/** Reads `token`, or `username` and `password`, and `ca.crt`. @throws FillError SecretInvalid */
export function accessOf(data: SecretData, name: string): SourceAccess {
  const ca = caOf(data, name)
  const token = textOf(data, 'token', name)
  const username = textOf(data, 'username', name)
  const password = textOf(data, 'password', name)
  if (token !== undefined) return { ca, credential: bearer(token) }
  if (username !== undefined && password !== undefined) {
    const basic = Buffer.from(`${username}:${password}`).toString('base64')
    return { ca, credential: credentialOf(`Basic ${basic}`) }
  }
  if (username !== undefined || password !== undefined) {
    const missing = username === undefined ? 'username' : 'password'
    throw invalid(name, missing, 'is missing: username and password belong together')
  }
  if (ca !== undefined) return { ca }
  throw invalid(name, 'token', 'is missing: give token, or username and password, or ca.crt')
}

/** One line of visible characters; undefined if the key is absent. @throws FillError SecretInvalid */
export function textOf(data: SecretData, key: string, name: string): string | undefined {
  const text = data[key]?.toString('utf8').trim()
  if (text === undefined) return undefined
  if (text === '') throw invalid(name, key, 'is empty')
  if (text.length <= 4096 && /^[\x20-\x7e]+$/.test(text)) return text
  throw invalid(name, key, 'must be one line of visible ASCII characters')
}

function caOf(data: SecretData, name: string): string | undefined {
  const pem = data['ca.crt']?.toString('utf8')
  if (pem === undefined) return undefined
  if (pem.length <= 1024 * 1024 && pem.includes('-----BEGIN CERTIFICATE-----')) return pem
  throw invalid(name, 'ca.crt', 'holds no certificate in PEM')
}

export function invalid(name: string, key: string, why: string): FillError {
  return new FillError('SecretInvalid', `key "${key}" of the Secret "${name}" ${why}`)
}

export function bearer(token: string): Credential {
  return credentialOf(`Bearer ${token}`)
}

const credentialOf = (authorization: string): Credential => ({
  id: shortHash(authorization),
  authorization,
})

export function shortHash(data: string | Buffer): string {
  return hash('sha256', data).slice(0, 16)
}
