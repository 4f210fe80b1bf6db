import { messageOf, RegistryError } from '../../base/errors/errors.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import { readKeyFile } from './key-file.ts'
import { watchKey } from './key-watch.ts'
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
 * Loads the key that signs the checksums of providers, and loads it again whenever its file changes. A new key that
 * cannot be used is logged, and the old one stays.
 *
 * @param options.passphrase of the key, where it has one
 * @param options.pollIntervalMs how often the file is looked at, default 2000
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
  const { metrics, privateKeyPath, passphrase, clock = Date.now, pollIntervalMs = 2000 } = options
  const log = options.log.child({ component: 'signing' })
  const source = { privateKeyPath, passphrase, log, clock, pollIntervalMs }
  const watch = await watchKey(source).catch((error: unknown) => {
    throw unusable(privateKeyPath, error)
  })
  const close = () => watch.close()
  const signer = new KeySigner(watch.key, { log, metrics, clock, close })
  watch.onChange = (key) => signer.replaceKey(key)
  return signer
}

function unusable(path: string, cause: unknown): RegistryError {
  const message = `--gpg-private-key-path ${path}: ${messageOf(cause)}`
  return new RegistryError('NotConfigured', message, { cause })
}
