import { createHash } from 'node:crypto'
import { sealData, unsealData } from 'iron-session'

/** What a sealed text is for: one made for something else is not taken. */
type Use = 'session' | 'login' | 'logout'

/**
 * Encrypts and signs what the browser keeps for us. The first password seals, all of them open, so that they can be
 * changed one after the other without signing anybody out.
 */
export class Seal {
  readonly #sealing: Record<string, string>
  readonly #opening: Record<string, string>

  /** @param passwords of 32 characters or more, at least one */
  constructor(passwords: readonly [string, ...string[]]) {
    this.#sealing = { [idOf(passwords[0])]: passwords[0] }
    this.#opening = Object.fromEntries(passwords.map((password) => [idOf(password), password]))
  }

  /** @param ttlSeconds from 1 */
  async seal(use: Use, value: object, ttlSeconds: number): Promise<string> {
    return sealData({ use, value }, { password: this.#sealing, ttl: Math.ceil(ttlSeconds) })
  }

  /** Undefined where the text was not sealed by us for this use, or too long ago. */
  async open(use: Use, text: string, ttlSeconds: number): Promise<unknown> {
    const opened = await unsealData<{ use?: Use; value?: unknown }>(text, {
      password: this.#opening,
      ttl: Math.ceil(ttlSeconds),
    }).catch((): { use?: Use; value?: unknown } => ({}))
    return opened.use === use ? opened.value : undefined
  }
}

/** The same for the same password wherever it stands in the list, and no help in guessing a long one. */
function idOf(password: string): string {
  return String(createHash('sha256').update(`depot session ${password}`).digest().readUInt32BE())
}
