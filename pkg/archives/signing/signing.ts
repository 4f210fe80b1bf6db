/**
 * Signs lists of checksums with GPG: generates, checks and loads a signing key, and reloads it when its file changes.
 * pkg/registry/protocol composes the lists. pkg/fill/sources verifies signatures of upstreams.
 */

import { readFile, stat } from 'node:fs/promises'
import { generateKey } from 'openpgp'
import { messageOf, RegistryError } from '../../base/errors/errors.ts'
import { contentsOf, watchContents } from '../../base/files/files.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import { KeySigner, type Signer } from './signer.ts'
import { readSigningKey } from './signing-key.ts'

export type { Signer } from './signer.ts'
export type { PublicKey } from './signing-key.ts'

/**
 * Generates a key that can only sign: RSA with 3072 bits, which every client supports. It does not expire and has no
 * passphrase.
 *
 * @returns the private key, armored; it takes about half a second
 */
export async function generateSigningKey(owner: { name: string; email: string }): Promise<string> {
  const { privateKey } = await generateKey({
    type: 'rsa',
    rsaBits: 3072,
    userIDs: [owner],
    subkeys: [],
    format: 'armored',
  })
  return privateKey
}

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
 * Loads the key that signs the checksums of providers, and reloads it when its file changes. If a new key cannot be used, it
 * logs that and keeps the old one.
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
  const keyIn = async () => readSigningKey(await readKeyFile(path), passphrase, clock())
  const known = contentsOf([path])
  let signer: KeySigner
  try {
    signer = new KeySigner(await keyIn(), { log, metrics: options.metrics, clock, close })
  } catch (error) {
    throw unusable(path, error)
  }
  let closed = false
  const watching = watchContents([path], { known, intervalMs: pollIntervalMs, onChange })
  return signer

  function close(): void {
    closed = true
    watching.stop()
  }

  async function onChange(): Promise<void> {
    try {
      const key = await keyIn()
      if (closed) return
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

/** Much larger than any key. */
const maxBytes = 1024 * 1024

/** @throws RegistryError NotConfigured that says why the file cannot be read */
async function readKeyFile(path: string): Promise<string> {
  const stats = await stat(path).catch(unreadable)
  if (!stats.isFile()) throw new RegistryError('NotConfigured', 'this is not a file')
  if (stats.size > maxBytes) {
    throw new RegistryError('NotConfigured', 'the file is too large for a key')
  }
  return readFile(path, 'utf8').catch(unreadable)
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  ENOTDIR: 'the file does not exist',
  EACCES: 'the file may not be read by this process',
  ELOOP: 'the file is a link to itself',
}

function unreadable(cause: NodeJS.ErrnoException): never {
  const reason = reasons[cause.code ?? ''] ?? `the file cannot be read (${cause.code})`
  throw new RegistryError('NotConfigured', reason, { cause })
}
