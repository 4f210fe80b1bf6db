import { describe, expect, it } from 'vitest'
import { fitted, widthOf } from './label.ts'

describe('labels of the graph', () => {
  it.each([
    ['network/vpc', 11, 'network/vpc'],
    ['network/vpc', 11.9, 'network/vpc'],
    ['network/vpc', 10.9, 'network/v…'],
    ['network/vpc', 0, 'net…'],
    ['network/vpc', -3, 'net…'],
    ['vpc', 1, 'vpc'],
    ['', 5, ''],
  ])('%s in %d letters is %s', (words, letters, expected) => {
    expect(fitted(words, letters)).toBe(expected)
  })

  it('measures the same words once for each font', () => {
    let measured = 0
    const context = {
      font: '11px one',
      measureText: (words: string) => {
        measured += 1
        return { width: words.length }
      },
    }
    expect([widthOf(context, '1.2.3'), widthOf(context, '1.2.3')]).toEqual([5, 5])
    expect(measured).toBe(1)
    widthOf({ ...context, font: '12px other' }, '1.2.3')
    expect(measured).toBe(2)
  })
})
