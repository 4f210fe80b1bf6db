import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import { OptionsError } from '../../pkg/base/options/options.ts'
import type { Logger } from '../../pkg/base/telemetry/telemetry.ts'

const intervalMs = 2000

/**
 * Gives the certificate authorities of the server. It reads the file again at most every two seconds, because a Secret can
 * be rotated. A Secret without `ca.crt` gives no file: then the authorities of the system are trusted.
 *
 * @throws OptionsError if the file cannot be read
 */
export function watchServerCa(path: string, log: Logger): () => string | undefined {
  let found: string | undefined
  try {
    found = authoritiesIn(path)
  } catch (error) {
    throw new OptionsError([`--server-ca-path cannot be used: ${messageOf(error)}`])
  }
  if (found === undefined) {
    log.warn(
      { path },
      'file of --server-ca-path is missing or empty; system authorities are trusted',
    )
  }
  let readAt = Date.now()
  return () => {
    if (Date.now() - readAt < intervalMs) return found
    readAt = Date.now()
    try {
      const now = authoritiesIn(path)
      if (now !== found) log.info({ path }, 'certificate authorities of the server reloaded')
      found = now
    } catch (error) {
      log.error(
        { err: error, path },
        'certificate authorities not reloaded; the previous ones stay',
      )
    }
    return found
  }
}

/** @throws Error if the file is not readable or not PEM */
function authoritiesIn(path: string): string | undefined {
  let ca: string
  try {
    ca = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  // cert-manager writes an empty `ca.crt` for a public issuer.
  if (ca.trim() === '') return undefined
  createSecureContext({ ca })
  return ca
}
