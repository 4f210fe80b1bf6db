import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:https'
import { createSecureContext } from 'node:tls'
import { messageOf } from '../errors/errors.ts'
import { contentsOf, watchContents } from '../files/files.ts'
import { gauge, type Logger, type Metrics } from '../telemetry/telemetry.ts'

/** Longest time that a timer of Node can wait. */
const maxTimerMs = 2 ** 31 - 1

export interface TlsFiles {
  readonly certPath: string
  readonly keyPath: string
}

export interface Pair {
  readonly cert: Buffer
  readonly key: Buffer
  readonly expiresAt: Date
  /** Digests of both files, taken before they were read, so that a change while reading is seen the next time. */
  readonly contents: string
}

/**
 * Reads a certificate and its key.
 *
 * @throws Error with one sentence for the operator if a file cannot be read or they do not belong together.
 */
export function readTlsFiles({ certPath, keyPath }: TlsFiles): Pair {
  const read = (flag: string, path: string): Buffer => {
    try {
      return readFileSync(path)
    } catch (error) {
      throw new Error(`${flag}: cannot read ${path}: ${messageOf(error)}`, { cause: error })
    }
  }
  const contents = contentsOf([certPath, keyPath])
  const cert = read('--tls-cert-path', certPath)
  const key = read('--tls-cert-key', keyPath)
  try {
    createSecureContext({ cert, key })
    return { cert, key, expiresAt: new Date(new X509Certificate(cert).validTo), contents }
  } catch (error) {
    throw new Error(
      `--tls-cert-path ${certPath} and --tls-cert-key ${keyPath} are not a certificate with its key: ${messageOf(error)}`,
      { cause: error },
    )
  }
}

/** Checks the files while the server runs: new connections use a new pair, and a bad pair is refused. */
export function reloadTls(
  server: Server,
  files: TlsFiles,
  served: Pair,
  { log, metrics, intervalMs }: { log: Logger; metrics: Metrics; intervalMs: number },
): { stop(): void } {
  let { expiresAt } = served
  let timer: NodeJS.Timeout | undefined
  const warnOnceExpired = (): void => {
    clearTimeout(timer)
    const leftMs = expiresAt.getTime() - Date.now()
    if (leftMs > 0) timer = setTimeout(warnOnceExpired, Math.min(leftMs, maxTimerMs)).unref()
    else
      log.warn({ expiresAt }, 'the certificate has expired: clients refuse it until it is renewed')
  }
  warnOnceExpired()
  gauge(metrics, {
    name: 'tls_certificate_expiry_timestamp_seconds',
    help: 'When the served certificate expires.',
    collect: (expiry) => expiry.set(expiresAt.getTime() / 1000),
  })
  const onChange = (): void => {
    try {
      const pair = readTlsFiles(files)
      server.setSecureContext({ cert: pair.cert, key: pair.key })
      log.info({ expiresAt: pair.expiresAt }, 'certificate reloaded')
      expiresAt = pair.expiresAt
      warnOnceExpired()
    } catch (error) {
      log.error({ err: error }, 'certificate not reloaded; the old one stays in use')
    }
  }
  const watching = watchContents([files.certPath, files.keyPath], {
    known: served.contents,
    intervalMs,
    onChange,
  })
  return {
    stop() {
      clearTimeout(timer)
      watching.stop()
    },
  }
}
