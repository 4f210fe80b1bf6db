import type { Readable } from 'node:stream'
import { messageOf, notFound, RegistryError, unavailable } from '../../../base/errors/errors.ts'
import { retryAfterMs, saidBy } from '../../../base/http/http.ts'
import type { RemoteStore } from './remote-store.ts'
import type { StoreAnswer } from './transport.ts'

const maxDetailBytes = 4096
const maxRetryAfterSeconds = 120

/**
 * The error for a refused request. Its cause, which only the log shows, has the answer of the store, the bucket and advice for
 * the operator.
 */
export async function refusalError(
  store: RemoteStore,
  answer: StoreAnswer,
): Promise<RegistryError> {
  const { status } = answer
  const { code, message } = await answerOf(answer)
  const quoted = message && ` ("${message}")`
  const said = `${store.backend} ${store.name} answered ${status}${code && ` ${code}`}${quoted}`
  if (status === 404) {
    const advice = /bucket|container/i.test(code)
      ? `there is no ${code.includes('ontainer') ? 'container' : 'bucket'} of this name: check the storageConfig`
      : 'the object that a Version names is missing'
    return notFound('there is no such archive in storage', new Error(`${said}: ${advice}`))
  }
  if (status === 400 || status === 401 || status === 403) {
    const cause = new Error(`${said}: ${store.credentialsAdvice}`)
    if (status === 401 || credentialCodes.test(code)) return credentialsRefused(cause)
    return badGateway('the archive storage refuses this registry; tell its operator', cause)
  }
  if (status === 412) return changed()
  const cause = new Error(said)
  if (status === 429 || status === 503) {
    const seconds = Math.ceil((retryAfterMs(answer.header('retry-after'), Date.now()) ?? 0) / 1000)
    if (seconds === 0) return unavailable('the archive storage is overloaded', cause)
    const retryAfter = String(Math.min(seconds, maxRetryAfterSeconds))
    return new RegistryError('Unavailable', 'the archive storage is overloaded; try again later', {
      cause,
      headers: { 'Retry-After': retryAfter },
    })
  }
  if (status === 504) return timeout(cause)
  if (status >= 300 && status < 400) {
    const region = new Error(`${said}, a redirect: check region and endpoint`)
    return badGateway('the storage redirects to another place; tell its operator', region)
  }
  return badGateway('the archive storage failed; try again in a moment', cause)
}

/** Codes of S3, Azure and Google for refused credentials, independent of the object. */
const credentialCodes =
  /^(InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken|TokenRefreshRequired|RequestTimeTooSkewed|AuthorizationHeaderMalformed|InvalidSecurity|AuthenticationFailed|AuthenticationRequired|InvalidAuthenticationInfo|NoAuthenticationInformation|AccountIsDisabled|KeyBasedAuthenticationNotPermitted)$/

/** The error for a failed connection. */
export function connectionError(store: RemoteStore, thrown: unknown): RegistryError {
  if (thrown instanceof RegistryError) return thrown
  const { code } = thrown as { code?: string }
  const cause = thrownBy(store, thrown)
  if (code !== undefined && /TIMEOUT|ETIMEDOUT/.test(code)) return timeout(cause)
  return unavailable('the archive storage cannot be reached', cause)
}

/** Describes an error of an SDK or socket, with the status and code that its message lacks. */
export function thrownBy({ backend, name }: RemoteStore, thrown: unknown): Error {
  const { statusCode, code } = thrown as { statusCode?: number; code?: string | number }
  const why = saidBy(messageOf(thrown))
  const more = [statusCode, code].filter((one) => one !== undefined && !why.includes(String(one)))
  return new Error([`${backend} ${name}`, ...more, why].join(': '), { cause: thrown })
}

/** The error for credentials that could not be fetched, or could not sign. */
export function credentialsError(store: RemoteStore, thrown: unknown): RegistryError {
  if (thrown instanceof RegistryError && thrown.reason !== 'Unavailable') return thrown
  const why = saidBy(messageOf(thrown))
  const cause = new Error(`${store.backend} ${store.name}: ${why}: ${store.credentialsAdvice}`, {
    cause: thrown,
  })
  return credentialsRefused(cause)
}

function credentialsRefused(cause: unknown): RegistryError {
  const message = 'the archive storage does not accept the credentials of the registry'
  return new RegistryError('StorageCredentialsRefused', `${message}; tell its operator`, { cause })
}

const changed = () => unavailable('the archive changed while it was read')

export function badGateway(message: string, cause?: unknown): RegistryError {
  return new RegistryError('BadGateway', message, { cause })
}

function timeout(cause: unknown): RegistryError {
  const message = 'the archive storage does not answer in time; try again in a moment'
  return new RegistryError('GatewayTimeout', message, { cause })
}

/** Reads the error code of a refusal, empty if there is none, and its message. */
export async function answerOf({
  body,
  header,
}: Pick<StoreAnswer, 'body' | 'header'>): Promise<{ code: string; message: string }> {
  const text = await beginningOf(body)
  const code = header('x-ms-error-code') ?? /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? ''
  return { code: code.slice(0, 100), message: saidBy(text) }
}

async function beginningOf(body: Readable): Promise<string> {
  let text = ''
  try {
    for await (const chunk of body) {
      text += (chunk as Buffer).toString('latin1')
      if (text.length > maxDetailBytes) break
    }
  } catch {
    // The part that arrived must do.
  }
  return text.slice(0, maxDetailBytes)
}
