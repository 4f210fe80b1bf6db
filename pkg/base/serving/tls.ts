import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Server } from 'node:https'
import { createSecureContext } from 'node:tls'
import { messageOf } from '../errors/errors.ts'
import { gauge, type Logger, type Metrics } from '../telemetry/telemetry.ts'

export interface TlsFiles {
  readonly certPath: string
  readonly keyPath: string
}

export interface Pair {
  readonly cert: Buffer
  readonly key: Buffer
  readonly expiresAt: Date
  /** Fingerprint of both files, taken before they were read, so that a change while reading is seen the next time. */
  readonly fingerprint: string
}

type Stats = Readonly<Record<'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs', bigint>>
const fingerprintOf = ({ dev, ino, size, mtimeNs, ctimeNs }: Stats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':')

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
  const seen = (path: string): string | undefined => {
    try {
      return fingerprintOf(statSync(path, { bigint: true }))
    } catch {
      return undefined
    }
  }
  const fingerprint = [certPath, keyPath].map(seen).join()
  const cert = read('--tls-cert-path', certPath)
  const key = read('--tls-cert-key', keyPath)
  try {
    createSecureContext({ cert, key })
    return { cert, key, expiresAt: new Date(new X509Certificate(cert).validTo), fingerprint }
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
  let { expiresAt, fingerprint } = served
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
  // The files change one after the other, so they are read once two checks found the same.
  let last = fingerprint
  let looking = false
  const look = async (): Promise<void> => {
    const latest = await fingerprintsOf(files)
    const isAtRest = latest === last
    last = latest
    if (!isAtRest || latest === fingerprint) return
    fingerprint = latest
    reload()
  }
  const timer = setInterval(() => {
    if (looking) return
    looking = true
    void look().finally(() => {
      looking = false
    })
  }, intervalMs).unref()
  return { stop: () => clearInterval(timer) }
}

async function fingerprintsOf({ certPath, keyPath }: TlsFiles): Promise<string> {
  const seen = [certPath, keyPath].map((path) =>
    stat(path, { bigint: true }).then(fingerprintOf, () => undefined),
  )
  return (await Promise.all(seen)).join()
}
