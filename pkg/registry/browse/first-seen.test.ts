import { expect, it } from 'vitest'
import { Catalog } from '../catalog/catalog.ts'
import { FirstSeen } from './first-seen.ts'

const second = (number: number) => new Date(number * 1000).toISOString()

it('keeps a time for each app, view and key until the text changes', () => {
  const { all } = new Catalog().model.views
  let seconds = 0
  const clock = () => ++seconds * 1000
  const [seen, other] = [new FirstSeen(clock), new FirstSeen(clock)]
  expect(seen.at(all, '', 'text')).toBe(second(1))
  expect(seen.at(all, '', 'text')).toBe(second(1))
  expect(seen.at(all, 'platform', 'text')).toBe(second(2))
  expect(other.at(all, '', 'text')).toBe(second(3))
  expect(seen.at(all, '', 'changed')).toBe(second(4))
})
