import { expect, it } from 'vitest'
import type { LineBuffer } from './line-writer.ts'
import { keyOf, LineWriter } from './line-writer.ts'
import { createLogger, type Logger } from './log.ts'

const key = keyOf('value')

/** What a line says whose value is put down by `put`. */
function valueOf(put: (line: LineWriter) => void, log?: Logger, lines: string[] = []): unknown {
  const line = new LineWriter(
    log ?? createLogger('info', { write: (text) => lines.push(text) }),
    'said',
  )
  expect(line.begin()).toBe(true)
  line.piece(key)
  put(line)
  line.end()
  return (JSON.parse(lines.at(-1) ?? '') as { value: unknown }).value
}

const characters = [
  'a',
  ' ',
  '"',
  '\\',
  '/',
  '\n',
  '\u0000',
  '\u007f',
  '\u0080',
  'é',
  '界',
  '🚀',
  '\ud800',
]

it.each([0, 1, 23, 24, 25, 62, 63, 64, 65, 66, 5000])(
  'puts down texts of %d characters',
  (length) => {
    for (const character of characters) {
      for (const text of [character.repeat(length), `${'x'.repeat(length)}${character}`]) {
        expect(valueOf((line) => line.quoted(text))).toBe(text)
      }
    }
  },
)

it.each([0, 1, 9, 10, 99, 100, 1023, 2 ** 31, 2 ** 32 + 1, 10 ** 15, 2 ** 53 - 1])(
  'puts down %d',
  (number) => {
    expect(valueOf((line) => line.whole(number))).toBe(number)
  },
)

it.each([
  [0, 0],
  [0.0004, 0],
  [0.0006, 0.001],
  [0.0146, 0.015],
  [0.9996, 1],
  [1, 1],
  [12.3456, 12.346],
  [59_999.9999, 60_000],
  [4_294_967.2964, 4_294_967.296],
])('puts down %d in thousandths', (number, expected) => {
  expect(valueOf((line) => line.thousandths(number))).toBe(expected)
})

it('puts down what is neither text nor number', () => {
  const error = { reason: 'BadRequest', message: 'a "word"' }
  expect(valueOf((line) => line.json(error))).toEqual(error)
  expect(valueOf((line) => line.json(true))).toBe(true)
})

it('gives back what was put down, to be put down again', () => {
  const lines: string[] = []
  const log = createLogger('info', { write: (text) => lines.push(text) })
  let kept: Uint8Array = new Uint8Array()
  valueOf(
    (line) => {
      const moment = line.here()
      line.quoted('kept')
      kept = line.pieceSince(moment)
    },
    log,
    lines,
  )
  expect(valueOf((line) => line.piece(kept), log, lines)).toBe('kept')
})

it('writes the fields of its logger, in the same order as it does', () => {
  const lines: string[] = []
  const log = createLogger('info', { write: (text) => lines.push(text) }).child({
    component: 'http',
  })
  valueOf((line) => line.whole(1), log, lines)
  log.info({ value: 1 }, 'said')
  const [mine, its] = lines.map((line) => line.replace(/"time":"[^"]*"/, '"time":""'))
  expect(mine).toBe(its)
})

it('writes nothing below the level of its logger', () => {
  expect(new LineWriter(createLogger('warn', { write: () => {} }), 'said').begin()).toBe(false)
})

it('takes a line along where memory ends in the middle of it', () => {
  const gathered: string[] = []
  const small: LineBuffer & {
    write(line: string): void
    bytes: Buffer<ArrayBuffer>
    length: number
  } = {
    bytes: Buffer.alloc(300),
    length: 0,
    reserve(bytes) {
      if (bytes > this.bytes.length - this.length) {
        gathered.push(this.bytes.toString('utf8', 0, this.length))
        this.length = 0
        this.bytes = Buffer.alloc(Math.max(300, bytes))
      }
      return this.bytes
    },
    commit(length) {
      this.length = length
    },
    write: () => {},
  }
  const line = new LineWriter(createLogger('info', small), 'said')
  const expected: string[] = []
  for (let round = 0; round < 200; round += 1) {
    const text = String(round).repeat(round % 37)
    expected.push(text)
    line.begin()
    line.piece(key)
    line.quoted(text)
    line.end()
  }
  const written = gathered.join('') + small.bytes.toString('utf8', 0, small.length)
  const lines = written.trimEnd().split('\n')
  expect(lines.map((text) => (JSON.parse(text) as { value: string }).value)).toEqual(expected)
  // Each passes on whole lines only.
  for (const part of gathered) expect(part === '' || part.endsWith('\n')).toBe(true)
})
