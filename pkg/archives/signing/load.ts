import { messageOf, RegistryError } from '../../base/errors/errors.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import { fingerprintOf, readKeyFile } from './key-file.ts'
import { KeySigner, type Signer } from './signer.ts'
import { readSigningKey } from './signing-key.ts'

/**
 * Tries a key without keeping it.
 *
 * @throws RegistryError NotConfigured as `loadSigner` does
 */
export async function checkSigningKey(privateKeyPath: string, passphrase?: string): Promise<void> {
  try {
    await readSigningKey(await readKeyFile(privateKeyPath), passphrase, Date.now())
  } catch (error) {
    throw unusable(privateKeyPath, error)
  }
}

/**
 * Loads the key that signs the checksums of providers, and reloads it when its file changes. A new key that cannot be used is
 * logged, and the old one stays.
 *
 * @param options.passphrase of the key, if it has one
 * @param options.pollIntervalMs how often to look at the file, default 2000
 * @throws RegistryError NotConfigured whose message begins with the option and says what is wrong with the key
 */
export async function loadSigner(options: {
  privateKeyPath: string
  passphrase?: string | undefined
  log: Logger
  metrics: Metrics
  clock?: Clock
  pollIntervalMs?: number
}): Promise<Signer> {
  const { privateKeyPath: path, passphrase, clock = Date.now, pollIntervalMs = 2000 } = options
  const log = options.log.child({ component: 'signing' })
  // Taken before the file is read: a later change is seen by the next check.
  const fingerprint = () => fingerprintOf(path).catch(() => 'absent')
  const keyOf = (text: string) => readSigningKey(text, passphrase, clock())
  let seen = await fingerprint()
  let text: string
  let signer: KeySigner
  try {
    text = await readKeyFile(path)
    signer = new KeySigner(await keyOf(text), { log, metrics: options.metrics, clock, close })
  } catch (error) {
    throw unusable(path, error)
  }
  let checking = false
  let closed = false
  const timer = setInterval(() => {
    if (checking) return
    checking = true
    void check().finally(() => {
      checking = false
    })
  }, pollIntervalMs).unref()
  return signer

  function close(): void {
    closed = true
    clearInterval(timer)
  }

  async function check(): Promise<void> {
    const latest = await fingerprint()
    if (latest === seen) return
    seen = latest
    try {
      const changed = await readKeyFile(path)
      if (changed === text) return
      const key = await keyOf(changed)
      if (closed) return
      text = changed
      log.info({ keyId: key.publicKey.key_id }, 'signing key replaced')
      signer.replaceKey(key)
    } catch (err) {
      if (!closed) log.error({ err, path }, 'new signing key not usable, the old one stays')
    }
  }
}

function unusable(path: string, cause: unknown): RegistryError {
  const message = `--gpg-private-key-path ${path}: ${messageOf(cause)}`
  return new RegistryError('NotConfigured', message, { cause })
}
