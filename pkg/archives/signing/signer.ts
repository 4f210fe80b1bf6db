import { RegistryError } from '../../base/errors/errors.ts'
import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import { counter, gauge, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import type { PublicKey, SigningKey } from './signing-key.ts'

/** Each has about 1 kB in addition to the texts. */
const maxSignatures = 4096
/** A signature takes 2 to 5 ms, so no caller waits longer than a few seconds. */
const maxWaiting = 1000

export type Signer = Omit<Pick<KeySigner, keyof KeySigner>, 'replaceKey'>

/** Signs the checksums that CLIs verify providers with: one key at a time, one text after the other. It remembers signatures. */
export class KeySigner {
  #key: SigningKey
  #revision = 0
  readonly #signatures = new Bounded<Uint8Array | Promise<Uint8Array>>({
    maxEntries: maxSignatures,
  })
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  readonly #options: { log: Logger; clock: Clock; close: () => void }
  /** Plain numbers, because every request counts. */
  readonly #requests = { signed: 0, cached: 0, failed: 0 }

  constructor(
    key: SigningKey,
    options: { log: Logger; metrics: Metrics; clock: Clock; close: () => void },
  ) {
    this.#key = key
    this.#options = options
    counter(options.metrics, {
      name: 'signing_requests_total',
      help: 'Requested signatures by result: signed, remembered (cached), failed.',
      labels: ['result'],
      collect: (it) => {
        it.reset()
        for (const [result, count] of Object.entries(this.#requests)) it.inc({ result }, count)
      },
    })
    gauge(options.metrics, {
      name: 'signing_key_expiry_timestamp_seconds',
      help: 'Time when the signing key expires; absent if it never does.',
      labels: ['key_id'],
      collect: (expiry) => {
        const { publicKey, expiresAtMs } = this.#key
        expiry.reset()
        if (expiresAtMs !== undefined) expiry.set({ key_id: publicKey.key_id }, expiresAtMs / 1000)
      },
    })
  }

  /** Counts replacements of the key. Results of an older key must be dropped. */
  get revision(): number {
    return this.#revision
  }

  publicKeys(): readonly PublicKey[] {
    return [this.#key.publicKey]
  }

  replaceKey(key: SigningKey): void {
    this.#key = key
    this.#revision += 1
    this.#signatures.clear()
  }

  /**
   * Makes a binary detached signature of the text. For a text that was signed before, it returns the same one at once.
   *
   * @throws RegistryError Unavailable if too many wait, or the key has expired since it was read
   */
  sign(text: string): Uint8Array | Promise<Uint8Array> {
    const signatures = this.#signatures
    const known = signatures.get(text)
    if (known !== undefined) {
      this.#requests.cached += 1
      return known
    }
    const signing = this.#signInTurn(text)
    signatures.set(text, signing)
    // The key may have been replaced meanwhile.
    const isCurrent = () => signatures.get(text) === signing
    signing.then(
      (signature) => isCurrent() && signatures.set(text, signature),
      () => isCurrent() && signatures.delete(text),
    )
    return signing
  }

  /** Counts a signature that was sent from a kept answer. */
  countReuse(): void {
    this.#requests.cached += 1
  }

  /** Stops watching the file of the key. */
  close(): void {
    this.#options.close()
  }

  async #signInTurn(text: string): Promise<Uint8Array> {
    const key = this.#key
    if (this.#waiting >= maxWaiting) throw this.#unable()
    this.#waiting += 1
    try {
      const turn = this.#last.then(() => key.sign(text, this.#options.clock()))
      this.#last = turn.catch(() => {}).finally(() => (this.#waiting -= 1))
      const signature = await turn
      this.#requests.signed += 1
      return signature
    } catch (err) {
      this.#options.log.error({ err, keyId: key.publicKey.key_id }, 'checksums could not be signed')
      throw this.#unable(err)
    }
  }

  #unable(cause?: unknown): RegistryError {
    this.#requests.failed += 1
    return new RegistryError(
      'Unavailable',
      'the registry cannot sign at the moment; try again, or tell its administrator',
      { cause },
    )
  }
}
