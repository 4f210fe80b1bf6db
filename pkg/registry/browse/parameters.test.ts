import { expect, it } from 'vitest'
import { RegistryError } from '../../base/errors/errors.ts'
import { collectGarbage } from '../../base/fast/garbage.fixture.ts'
import { parse, queryReader } from './parameters.ts'
import { resources } from './resources.ts'

const { query: schema } = resources
const read = queryReader(schema)

/** The parsed value of a query, or the message of the error. */
function outcomeOf(meaning: () => unknown): unknown {
  try {
    return meaning()
  } catch (error) {
    if (error instanceof RegistryError) return error.message
    throw error
  }
}

/** Parses with the platform's parser and the schema only. */
function expectedOf(search: string): unknown {
  const given = new URLSearchParams(search)
  const raw: Record<string, string | string[]> = {}
  for (const [name] of given) {
    if (!Object.hasOwn(schema.shape, name)) continue
    const [first = '', ...others] = given.getAll(name)
    if (name === 'namespace') raw[name] = [first, ...others]
    else if (others.length > 0) return `${name} must be given once`
    else raw[name] = first
  }
  return outcomeOf(() => parse(schema, raw))
}

const pairs = [
  'kind=module kind=provider kind=Module kind kind= =module =',
  'q=net q=a%20b q=a+b q=% q=%zz q=a=b q= q=é',
  'page=1 page=2 page=0 page=01 page=-1 page=1e3 page=9999999999 page_size=7',
  'namespace=a namespace=b namespace= synced=true synced=1 public_only=false',
  'sort_by=severity sort_by=constructor sort_dir=desc severity=HIGH os=linux',
  '_=1 __proto__=x constructor=x toString %6bind=module k+ind=module ?page=2 ?kind=Module ?',
]
  .flatMap((line) => line.split(' '))
  .concat('', `q=${'x'.repeat(254)}`)

it.each(pairs)('reads %j like the platform and the schema, every time', (pair) => {
  expect(outcomeOf(() => read(pair))).toEqual(expectedOf(pair))
  expect(outcomeOf(() => read(pair))).toEqual(expectedOf(pair))
})

it('reads pairs in any order and number like the platform and the schema', () => {
  for (const first of pairs) {
    for (const second of pairs) {
      for (const search of [
        `${first}&${second}`,
        `${first}&&${second}&`,
        `${first}&q=z&${second}`,
      ]) {
        expect([search, outcomeOf(() => read(search))]).toEqual([search, expectedOf(search)])
      }
    }
  }
})

it('remembers few of the texts that it reads', () => {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const wrong = []
  for (let page = 1; page < 300_000; page += 1) {
    const { page: found } = read(`page=${page}`)
    if (found !== page) wrong.push(page)
  }
  expect(wrong).toEqual([])
  expect(read('page=1')).toMatchObject({ page: 1 })
  collectGarbage()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5e6)
})

it('reads millions of pairs without a value in one pass', () => {
  expect(read(`page=2${'&'.repeat(4_000_000)}`)).toMatchObject({ page: 2 })
})

it.each(['', 'kind=module', 'namespace=a'])('parses %j separately for each request', (search) => {
  const [first, second] = [read(search), read(search)]
  expect(first).toEqual(second)
  expect(first).not.toBe(second)
  expect(first).toMatchObject({ page: 1 })
})

it('gives each request its own list', () => {
  const [{ namespace: first }, { namespace: second }] = [read('namespace=a'), read('namespace=a')]
  expect(first).toEqual(['a'])
  expect(first).not.toBe(second)
})

it('remembers a text without the URL that it was part of', () => {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let index = 0; index < 60; index += 1) {
    const search = `_=${String(index).repeat(1_000_000)}&q=part-of-a-name-${index}`
    expect(read(search)).toMatchObject({ q: `part-of-a-name-${index}` })
  }
  collectGarbage()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20e6)
})
