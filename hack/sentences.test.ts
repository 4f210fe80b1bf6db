import { expect, it } from 'vitest'
import { problemsIn, sentencesOf, wordsIn } from './sentences.ts'

it('finds sentences in paragraphs, lists and headings, but not in code and tables', () => {
  const page = `# A page

It has \`two words.\` here. It goes
on [there](there.md), and ends.

- an item
- 2 items

| a | table |
| --- | --- |

  \`\`\`sh
  echo This is code.
  \`\`\`
`
  expect(sentencesOf(page)).toEqual([
    'A page',
    'It has CODE here.',
    'It goes on there, and ends.',
    'an item',
    '2 items',
  ])
})

it('counts a word of code as one, and no dashes', () => {
  expect(wordsIn('It has CODE - and "this" here.')).toBe(6)
})

it('names a sentence of more than 40 words, and a page with more than 25 on average', () => {
  const sentence = `${'word '.repeat(41).trim()}.`
  expect(problemsIn(sentence)).toEqual([
    '41.0 words a sentence on average',
    `41 words: ${sentence}`,
  ])
  expect(problemsIn(`${'word '.repeat(40)}\n\nOne.`)).toEqual([])
})
