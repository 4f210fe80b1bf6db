import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import { contentsOf, watchContents } from '../../pkg/base/files/files.ts'
import { OptionsError } from '../../pkg/base/options/options.ts'
import type { Logger } from '../../pkg/base/telemetry/telemetry.ts'

/**
 * Gives the certificate authorities of the server, and follows the file, because a Secret can be rotated. A Secret without
 * `ca.crt` gives no file: then the authorities of the system are trusted.
 *
 * @throws OptionsError if the file cannot be read
 */
export function watchServerCa(path: string, log: Logger): () => string | undefined {
  const known = contentsOf([path])
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
  const onChange = () => {
    try {
      found = authoritiesIn(path)
      log.info({ path }, 'certificate authorities of the server reloaded')
    } catch (error) {
      log.error(
        { err: error, path },
        'certificate authorities not reloaded; the previous ones stay',
      )
    }
  }
  watchContents([path], { known, intervalMs: 1000, onChange })
  return () => found
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
