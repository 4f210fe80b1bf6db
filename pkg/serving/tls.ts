import { X509Certificate } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import type { Server } from 'node:https'
import { createSecureContext } from 'node:tls'
import { messageOf } from '../errors/errors.ts'
import { gauge, type Logger, type Metrics } from '../telemetry/telemetry.ts'

export interface TlsFiles {
  readonly certPath: string
  readonly keyPath: string
}

interface Pair {
  readonly cert: Buffer
  readonly key: Buffer
  readonly expiresAt: Date
}

/**
 * Reads a certificate and its key.
 *
 * @throws Error with one sentence for the operator where a file cannot be read or the two do not fit together.
 */
export function readTlsFiles({ certPath, keyPath }: TlsFiles): Pair {
  const read = (flag: string, path: string): Buffer => {
    try {
      return readFileSync(path)
    } catch (error) {
      throw new Error(`${flag}: cannot read ${path}: ${messageOf(error)}`, { cause: error })
    }
  }
  const cert = read('--tls-cert-path', certPath)
  const key = read('--tls-cert-key', keyPath)
  try {
    createSecureContext({ cert, key })
    return { cert, key, expiresAt: new Date(new X509Certificate(cert).validTo) }
  } catch (error) {
    throw new Error(
      `--tls-cert-path ${certPath} and --tls-cert-key ${keyPath} are not a certificate with its key: ${messageOf(error)}`,
      { cause: error },
    )
  }
}

/** Follows the files while the server runs: a new pair is used for new connections, a bad one is refused. */
export function reloadTls(
  server: Server,
  files: TlsFiles,
  { log, metrics, intervalMs }: { log: Logger; metrics: Metrics; intervalMs: number },
): { stop(): void } {
  let { expiresAt } = readTlsFiles(files)
  gauge(
    metrics,
    {
      name: 'tls_certificate_expiry_timestamp_seconds',
      help: 'When the served certificate expires.',
    },
    (expiry) => expiry.set(expiresAt.getTime() / 1000),
  )
  const reload = (): void => {
    try {
      const pair = readTlsFiles(files)
      server.setSecureContext({ cert: pair.cert, key: pair.key })
      expiresAt = pair.expiresAt
      log.info({ expiresAt }, 'certificate reloaded')
    } catch (error) {
      log.error({ err: error }, 'certificate not reloaded; the old one stays in use')
    }
  }
  // The two files change one after the other: what is read is what they are a moment later.
  let timer: NodeJS.Timeout | undefined
  const changed = (): void => {
    clearTimeout(timer)
    timer = setTimeout(reload, intervalMs).unref()
  }
  const paths = [files.certPath, files.keyPath]
  for (const path of paths) watchFile(path, { interval: intervalMs, persistent: false }, changed)
  return {
    stop() {
      clearTimeout(timer)
      for (const path of paths) unwatchFile(path, changed)
    },
  }
}
