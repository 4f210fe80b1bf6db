import { expect, it } from 'vitest'
import { listItemsOf } from './manifest-file.ts'

const itemsOf = (text: string) => listItemsOf({ text, line: 10 })

it('splits a list into its items, with their lines', () => {
  const text = [
    'apiVersion: v1',
    'items:',
    '# first',
    '- kind: Module',
    '  note: |',
    '    - not an item',
    '',
    '    # not a comment',
    '- kind: Version',
    'kind: List',
    '',
  ]
  expect(itemsOf(text.join('\n'))).toEqual({
    envelope: 'apiVersion: v1\nkind: List\n',
    items: [
      { text: `${text.slice(2, 8).join('\n')}\n`, line: 12 },
      { text: '- kind: Version\n', line: 18 },
    ],
  })
})

it('splits a list whose items are indented', () => {
  const text = 'kind: List\r\nitems:\r\n  - a: 1\r\n    b:\r\n    - c\r\n  - a: 2'
  expect(itemsOf(text)?.items).toEqual([
    { text: '  - a: 1\r\n    b:\r\n    - c\r\n', line: 12 },
    { text: '  - a: 2', line: 15 },
  ])
})

it.each([
  ['is not a list', 'kind: Module\nitems:\n- a\n'],
  ['has no items', 'kind: List\nitems: []\n'],
  ['is written in flow style', 'kind: List\nitems: [a, b]\n'],
  ['shares parts between items', 'kind: List\nitems:\n- &a {b: 1}\n- *a\n- c: *a\n'],
])('does not split a document that %s', (_, text) => {
  expect(itemsOf(text)).toBeUndefined()
})

it('reads comments of a list with Windows line ends', () => {
  const comments = '# a comment\r\n'.repeat(1000)
  expect(itemsOf(`kind: List\r\nitems:\r\n${comments}- a: 1\r\n`)?.items).toEqual([
    { text: `${comments}- a: 1\r\n`, line: 12 },
  ])
  expect(itemsOf(`kind: List\r\nitems:\r\n${comments}a: 1\r\n`)).toBeUndefined()
})
