import { randomBytes } from 'node:crypto'

const safeRequestId = /^[\w.:-]{1,64}$/
const [dash, zero, nine] = [0x2d, 0x30, 0x39]

/**
 * Names requests: by the client's own id where it is harmless, else by a new one. New ones share a random beginning that no
 * other process has, and are counted from there.
 */
export class RequestIds {
  /** The last new one; counted on in place, as every request has one. */
  #last = Buffer.from(`${randomBytes(9).toString('base64url')}-0`)

  textOf(own: string | undefined): string {
    return this.bytesOf(own).toString('latin1')
  }

  /** @returns what is good until the next request */
  bytesOf(own: string | undefined): Buffer {
    if (own !== undefined && safeRequestId.test(own)) return Buffer.from(own)
    for (let place = this.#last.length - 1; ; place -= 1) {
      const digit = this.#last[place] as number
      if (digit === dash) return this.#lengthen(place)
      if (digit < nine) {
        this.#last[place] = digit + 1
        return this.#last
      }
      this.#last[place] = zero
    }
  }

  /** After 99 comes 100. @param place of the dash before the digits */
  #lengthen(place: number): Buffer {
    const prefix = this.#last.subarray(0, place + 1)
    const zeros = this.#last.subarray(place + 1)
    this.#last = Buffer.concat([prefix, Buffer.from('1'), zeros])
    return this.#last
  }
}
