import { expect, it } from 'vitest'
import { cpuTimeMs } from '../../../hack/testbed/cpu-time.ts'
import { firstParagraph } from './read-docs.ts'

it.each([
  ['# vpc\n\nA *small* network.', 'A small network.'],
  [
    'Both **bold** and __bold__, _slanted_ and *slanted*.',
    'Both bold and bold, slanted and slanted.',
  ],
  [
    'Names such as `aws_vpc` and my_own_name, 2 * 3 * 4.',
    'Names such as aws_vpc and my_own_name, 2 * 3 * 4.',
  ],
  ['[![CI](x)](y)\n\n![logo](z)\n\nSee [the guide](g) or [this][t].', 'See the guide or this.'],
  ['vpc\n===\nA network.', 'A network.'],
  ['# only a heading', undefined],
])('describes %j as %j', (markdown, text) => {
  expect(firstParagraph(markdown)).toBe(text)
})

it.each(['![', '[', '[x](', '[x][', '**b ', '*b', '_b ', '`b', '<!--', '\n \n', ' \t'])(
  'reads a README of many %j fast',
  (part) => {
    const hostile = `a ${part.repeat(256 * 1024)}`.slice(0, 256 * 1024)
    const startMs = cpuTimeMs()
    firstParagraph(hostile)
    expect(cpuTimeMs() - startMs).toBeLessThan(500)
  },
)
