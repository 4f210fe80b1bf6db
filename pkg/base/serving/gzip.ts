import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { ReadyAnswer } from './ready-answer.ts'

const compress = promisify(gzip)
/** JSON repeats itself: higher levels hardly make it smaller. */
const level = 4
/** Smaller answers fit into one packet anyway. */
const leastBytes = 1024

/** True if a client accepts gzip. @param header `Accept-Encoding` */
export function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false
  return header.split(',').some((one) => {
    const [name = '', weight = ''] = one.split(';')
    return name.trim() === 'gzip' && !/^\s*q=0(?:\.0*)?\s*$/.test(weight)
  })
}

/** Compressed forms of ready answers, made once, for as long as the answers are kept. */
export class GzipAnswers {
  readonly #made = new WeakMap<ReadyAnswer, ReadyAnswer>()

  /** The compressed form; undefined until it has been made. */
  now(answer: ReadyAnswer): ReadyAnswer | undefined {
    return answer.sendable.length < leastBytes ? answer : this.#made.get(answer)
  }

  async make(answer: ReadyAnswer): Promise<ReadyAnswer> {
    const known = this.now(answer)
    if (known !== undefined) return known
    const made = answer.encoded('gzip', new Uint8Array(await compress(answer.body, { level })))
    this.#made.set(answer, made)
    return made
  }
}
