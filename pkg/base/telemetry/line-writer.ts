import { type DestinationStream, type Logger, pino } from 'pino'
import { characterBytes, keptBytes } from '../memory/memory.ts'
import { eachMillisecond } from './each-millisecond.ts'

/** Memory where lines wait as bytes until they are written. */
export interface LineBuffer {
  /** How many bytes of it are taken. */
  readonly length: number
  /** The memory, with room for so many bytes more. */
  reserve(bytes: number): Buffer<ArrayBuffer>
  /** Says that whole lines take so many bytes of it now. */
  commit(length: number): void
}

/** What is longer is copied faster by a call than one by one. */
const shortBytes = 24
const shortText = 64
const [quote, point, zero, lastAscii] = [0x22, 0x2e, 0x30, 0x7f]

/**
 * Writes lines field by field: what `log.info` does, for a fraction of the cost, which counts where there is a line for
 * every request. A line is put together as bytes where it waits to be written: as text, its parts would be a dozen
 * objects, which take memory that the processor has no longer at hand.
 */
export class LineWriter {
  readonly #log: Logger
  readonly #lines: LineBuffer
  readonly #startNow: () => Buffer
  readonly #end: Buffer
  #bytes: Buffer<ArrayBuffer> = Buffer.alloc(0)
  /** Where the line begins, and where it goes on. */
  #from = 0
  #at = 0

  /** @param msg constant, and nothing that JSON would escape */
  constructor(log: Logger, msg: string) {
    const own = log as unknown as Record<symbol, unknown>
    const bindings = own[pino.symbols.chindingsSym] as string
    const output = own[pino.symbols.streamSym] as DestinationStream & Partial<LineBuffer>
    this.#log = log
    this.#lines = isLineBuffer(output) ? output : new TextLines(output)
    this.#startNow = eachMillisecond((time) =>
      Buffer.from(`{"level":"info","time":"${time}"${bindings}`),
    )
    this.#end = Buffer.from(`,"msg":"${msg}"}\n`)
  }

  /** Begins a line. False: such lines are not wanted. */
  begin(): boolean {
    if (!this.#log.isLevelEnabled('info')) return false
    this.#bytes = this.#lines.reserve(0)
    this.#from = this.#lines.length
    this.#at = this.#from
    this.piece(this.#startNow())
    return true
  }

  end(): void {
    this.piece(this.#end)
    this.#lines.commit(this.#at)
  }

  /** Puts down what is ready, such as what `keyOf` makes. */
  piece(piece: Uint8Array): void {
    const { length } = piece
    this.#makeRoom(length)
    if (length > shortBytes) this.#bytes.set(piece, this.#at)
    else copyShort(piece, this.#bytes, this.#at)
    this.#at += length
  }

  /** The fields since a moment that `here` told, as a piece of their own. */
  pieceSince(moment: number): Uint8Array {
    return keptBytes(this.#bytes.subarray(this.#from + moment, this.#at))
  }

  /** How long the line is so far. */
  here(): number {
    return this.#at - this.#from
  }

  /** Puts down a key, as `keyOf` makes it, and a text. */
  field(key: Uint8Array, text: string): void {
    this.piece(key)
    this.quoted(text)
  }

  /** Puts down bytes of text that needs no escape, as JSON. */
  quotedPiece(piece: Uint8Array): void {
    const { length } = piece
    this.#makeRoom(length + 2)
    const bytes = this.#bytes
    const at = this.#at
    bytes[at] = quote
    copyShort(piece, bytes, at + 1)
    bytes[at + 1 + length] = quote
    this.#at = at + length + 2
  }

  /** Puts down text as JSON. */
  quoted(text: string): void {
    const { length } = text
    this.#makeRoom(shortText + 2)
    if (length > shortText || !this.#plain(text)) this.#text(JSON.stringify(text))
  }

  /** Puts down what is not a text or a number of its own. */
  json(value: boolean | object): void {
    this.#text(JSON.stringify(value))
  }

  /** Puts down a number that is whole and not below zero. */
  whole(value: number): void {
    this.#makeRoom(maxDigits)
    this.#at = putWhole(value, this.#bytes, this.#at)
  }

  /** Puts down a number that is not below zero, to three places behind the point. */
  thousandths(value: number): void {
    this.#makeRoom(maxDigits + 4)
    const all = Math.round(value * 1000)
    const wholes = Math.floor(all / 1000)
    const rest = all - wholes * 1000
    const bytes = this.#bytes
    const at = putWhole(wholes, bytes, this.#at)
    const hundredths = (rest / 10) | 0
    const tenths = (hundredths / 10) | 0
    bytes[at] = point
    bytes[at + 1] = zero + tenths
    bytes[at + 2] = zero + hundredths - tenths * 10
    bytes[at + 3] = zero + rest - hundredths * 10
    this.#at = at + 4
  }

  /** Text that needs no escape, with its quotes. False: it does need some, and nothing is put down. */
  #plain(text: string): boolean {
    const bytes = this.#bytes
    let at = this.#at
    bytes[at++] = quote
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index)
      if (needsEscape[code] !== 0) return false
      bytes[at++] = code
    }
    bytes[at++] = quote
    this.#at = at
    return true
  }

  #text(text: string): void {
    this.#makeRoom(text.length * characterBytes)
    this.#at += this.#bytes.write(text, this.#at)
  }

  #makeRoom(bytes: number): void {
    if (bytes > this.#bytes.length - this.#at) this.#move(bytes)
  }

  /** Takes the line along to where there is room for the rest of it. */
  #move(bytes: number): void {
    const begun = this.#bytes.subarray(this.#from, this.#at)
    this.#bytes = this.#lines.reserve(begun.length + bytes)
    this.#from = this.#lines.length
    this.#bytes.set(begun, this.#from)
    this.#at = this.#from + begun.length
  }
}

/** By the code of a character: whether it is put down otherwise than as one byte. Codes that are not in it are. */
const needsEscape = Uint8Array.from({ length: lastAscii }, (_, code) =>
  code < 0x20 || code === quote || code === 0x5c ? 1 : 0,
)

/** What is larger is left to JavaScript: it is rare. */
const maxPlain = 2 ** 31 - 1
const maxDigits = 16

/** @returns where it ends */
function putWhole(value: number, bytes: Buffer, at: number): number {
  if (value > maxPlain) return at + bytes.write(String(value), at)
  let rest = value | 0
  let end = at + 1
  for (let more = rest; more >= 10; more = (more / 10) | 0) end += 1
  for (let place = end - 1; place >= at; place -= 1) {
    const next = (rest / 10) | 0
    bytes[place] = zero + rest - next * 10
    rest = next
  }
  return end
}

function copyShort(from: Uint8Array, to: Uint8Array, at: number): void {
  for (let index = 0; index < from.length; index += 1) to[at + index] = from[index] as number
}

/** `,"name":`, to be followed by a value. */
export const keyOf = (name: string): Uint8Array => keptBytes(`,"${name}":`)

/** A destination that takes lines as text. */
class TextLines implements LineBuffer {
  readonly #output: DestinationStream
  readonly length = 0
  #bytes = Buffer.alloc(1024)

  constructor(output: DestinationStream) {
    this.#output = output
  }

  reserve(bytes: number): Buffer<ArrayBuffer> {
    if (bytes > this.#bytes.length) this.#bytes = Buffer.alloc(bytes)
    return this.#bytes
  }

  commit(length: number): void {
    this.#output.write(this.#bytes.toString('utf8', 0, length))
  }
}

const isLineBuffer = (output: DestinationStream & Partial<LineBuffer>): output is LogLines =>
  output.reserve !== undefined && output.commit !== undefined

type LogLines = DestinationStream & LineBuffer
