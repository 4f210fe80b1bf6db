import { createHash } from 'node:crypto'
import { sealData, unsealData } from 'iron-session'

/** Purpose of a sealed text. A text that was sealed for another purpose is refused. */
type Use = 'session' | 'login' | 'logout'

/**
 * Encrypts and signs data that the browser keeps. The first password seals and all of them open, so that passwords can be
 * rotated without signing anybody out.
 */
export class Seal {
  readonly #sealing: Record<string, string>
  readonly #opening: Record<string, string>

  /** @param passwords of 32 characters or more, at least one */
  constructor(passwords: readonly [string, ...string[]]) {
    this.#sealing = { [idOf(passwords[0])]: passwords[0] }
    this.#opening = Object.fromEntries(passwords.map((password) => [idOf(password), password]))
  }

  /** @param ttlSeconds 1 or more */
  async seal(use: Use, value: object, ttlSeconds: number): Promise<string> {
    return sealData({ use, value }, { password: this.#sealing, ttl: Math.ceil(ttlSeconds) })
  }

  /** Undefined if the text was not sealed with these passwords for this purpose, or too long ago. */
  async open(use: Use, text: string, ttlSeconds: number): Promise<unknown> {
    const opened = await unsealData<{ use?: Use; value?: unknown }>(text, {
      password: this.#opening,
      ttl: Math.ceil(ttlSeconds),
    }).catch((): { use?: Use; value?: unknown } => ({}))
    return opened.use === use ? opened.value : undefined
  }
}

/** Depends only on the password, not on its position in the list, and does not help to guess a long password. */
function idOf(password: string): string {
  return String(createHash('sha256').update(`depot session ${password}`).digest().readUInt32BE())
}
