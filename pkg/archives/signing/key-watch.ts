import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import { fingerprintOf, readKeyFile } from './key-file.ts'
import { readSigningKey, type SigningKey } from './signing-key.ts'

export interface KeySource {
  readonly privateKeyPath: string
  readonly passphrase?: string | undefined
  readonly log: Logger
  readonly clock: Clock
  readonly pollIntervalMs: number
}

/** A key that is read again whenever its file changes, until it is closed. */
export interface KeyWatch {
  /** The key of the start. */
  readonly key: SigningKey
  /** Called with every new key that can be used; what cannot is logged, once for each change of the file. */
  onChange: (key: SigningKey) => void
  /** Nothing is logged or called any more, by a look at the file that is under way either. */
  close(): void
}

/** @throws RegistryError NotConfigured where the first key cannot be used */
export async function watchKey(source: KeySource): Promise<KeyWatch> {
  const { privateKeyPath: path, passphrase, log, clock, pollIntervalMs } = source
  let fingerprint = await seen()
  let text = await readKeyFile(path)
  const key = await readSigningKey(text, passphrase, clock())
  let checking = false
  let closed = false

  const timer = setInterval(() => {
    if (checking) return
    checking = true
    void check().finally(() => {
      checking = false
    })
  }, pollIntervalMs).unref()

  const watch: KeyWatch = {
    key,
    onChange: () => {},
    close() {
      closed = true
      clearInterval(timer)
    },
  }
  return watch

  /** Looked at before the file is read: what changes meanwhile shows the next time. */
  function seen(): Promise<string> {
    return fingerprintOf(path).catch(() => 'absent')
  }

  async function check(): Promise<void> {
    const latest = await seen()
    if (latest === fingerprint) return
    fingerprint = latest
    try {
      const changed = await readKeyFile(path)
      if (changed === text) return
      const next = await readSigningKey(changed, passphrase, clock())
      if (closed) return
      text = changed
      log.info({ keyId: next.publicKey.key_id }, 'signing key replaced')
      watch.onChange(next)
    } catch (err) {
      if (closed) return
      log.error({ err, path }, 'new signing key not usable, the old one stays')
    }
  }
}
