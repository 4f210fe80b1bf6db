import { expect, it } from 'vitest'
import { findWords } from './words.ts'

it.each([
  ['docs/a.md', 'while the API server is away'],
  ['docs/a.md', 'Storage is that of the Version, else that of its parent'],
  ['docs/a.md', 'a name that is no part of an address, a digest that is none'],
  ['docs/a.md', '## What other sites can do'],
  ['docs/a.md', '## Start from zero'],
  ['pkg/a.ts', "throw new Error('the token is no signed JWT')"],
  ['pkg/a.ts', '/** What stood behind the scheme of the header. */'],
  ['pkg/a.ts', '// The keys of before.'],
  ['pkg/a.ts', '/**\n * The pods: one of them stands\n * in the Lease.\n */'],
  ['pkg/a.test.ts', "it('that names no Version serves any', () => {})"],
  ['docs/a.md', 'What is stored stays, also\nif you raise the age.'],
  ['pkg/a.ts', '/** @returns undefined where there is none */'],
  ['docs/a.md', 'what breaks callers of the version before it'],
  ['docs/a.md', 'Default: the one before.'],
  ['pkg/a.test.ts', "it.each([])('what is no version', () => {})"],
  ['pkg/a.ts', '/** Least time between two scans. */'],
  ['docs/a.md', 'Module calls, also of local modules.'],
  ['pkg/a.ts', '// A failure is written\n// down.'],
  ['docs/a.md', 'more that the status has no room for'],
  ['docs/a.md', 'An exception outweighs a denial.'],
  ['pkg/a.ts', '// The source is another one.'],
])('finds in %s the wording of: %s', (file, text) => {
  expect(findWords(file, text)).not.toEqual([])
})

it.each([
  [
    'docs/a.md',
    'Neither probe fails when the API server is unreachable; nobody else notices, and all else.',
  ],
  ['docs/a.md', 'also with a lock file, empty, where the API server decides, the one before it'],
  ['docs/a.md', 'There is no version before 1.0.0.'],
  ['docs/a.md', 'There is no cluster. It is no longer served. `*` stands for any text.'],
  ['docs/a.md', '## Download counts'],
  ['docs/a.md', 'unless there is another one like it'],
  [
    'pkg/a.ts',
    "if (a) b()\nelse { c() } // Whether all pending changes are applied\n'https://Of x'",
  ],
  ['pkg/a.test.ts', "it('serves what is public', () => {})"],
])('leaves alone in %s: %s', (file, text) => {
  expect(findWords(file, text)).toEqual([])
})

it('names the line of a sentence that begins in the middle of a comment', () => {
  const [found] = findWords(
    'pkg/a.ts',
    '/**\n * The digest of a file\n * that is\n * no archive.\n */',
  )
  expect(found).toMatchObject({ file: 'pkg/a.ts', line: 3, instead: '"is not a"' })
})
