import { expect, it } from 'vitest'
import { TextTable } from './text-table.ts'

const tableOf = (texts: readonly string[]) => {
  const table = new TextTable<{ text: string }>()
  for (const text of texts) table.set(text, { text })
  const knows = (text: string): boolean =>
    table.find(`<${text}>`, 1, text.length + 1)?.text === text
  return { table, knows }
}
/** They differ in the middle alone, which is not hashed. */
const alike = (number: number) =>
  `${'x'.repeat(60)}${String(number).padStart(4, '0')}${'x'.repeat(60)}`
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)

it('finds each of many values by its text, which is a part of a longer one', () => {
  const texts = numbers(20_000).map((number) => `${'-'.repeat(24)}${number}`)
  const { table, knows } = tableOf(texts)
  expect(texts.filter((text) => !knows(text))).toEqual([])
  expect(table.find('nothing', 0, 7)).toBeUndefined()
  expect(new TextTable().find('nothing', 0, 7)).toBeUndefined()
})

it('remembers eight texts with the same hash, including the last one', () => {
  for (const count of [1, 8, 9, 100]) {
    const texts = numbers(count).map(alike)
    const { knows } = tableOf(texts)
    expect(texts.filter(knows)).toHaveLength(Math.min(count, 8))
    expect(knows(alike(count - 1))).toBe(true)
  }
})

it('forgets everything when it is full, and keeps no very long texts', () => {
  const texts = numbers(70_000).map((number) => `${'-'.repeat(24)}${number}`)
  const { knows } = tableOf(texts)
  expect(knows(texts[0] as string)).toBe(false)
  expect(knows(texts.at(-1) as string)).toBe(true)
  const long = 'x'.repeat(2_001)
  expect(tableOf([long]).knows(long)).toBe(false)
  const large = numbers(9_000).map((number) => `${'-'.repeat(24)}${number}`.padEnd(2_000))
  expect(large.filter(tableOf(large).knows).length).toBeLessThan(8_001)
})
