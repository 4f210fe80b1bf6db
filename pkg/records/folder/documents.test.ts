import { describe, expect, it } from 'vitest'
import { documentsOf, parseYaml } from './documents.ts'

const directive = '%YAML 1.2\n'
const tag = '%TAG !e! tag:example.com,2026:\n'

describe('documentsOf', () => {
  it.each<[what: string, parts: readonly string[]]>([
    ['one document', ['a: 1\n']],
    ['two documents', ['a: 1\n', '---\na: 2\n']],
    ['one document with a directive', [`${directive}---\na: 1\n`]],
    ['two documents, the first with a directive', [`${directive}---\na: 1\n`, '---\na: 2\n']],
    ['three', [`${directive}---\na: 1\n`, '---\na: 2\n', '--- # c\na: 3\n']],
    ['two directives', [`${directive}${tag}---\na: !e!x 1\n`, '---\na: 2\n']],
    ['a comment before', [`\n# why\n # %\n${directive}# and\n\n---\na: 1\n`, '---\na: 2\n']],
    ['directives for each', [`${directive}---\na: 1\n...\n`, `${directive}---\na: 2\n`]],
    [
      'directives after comments and blank lines',
      ['a: 1\n... # end\n', `# why\n\n${tag}---\na: 2\n...\n`, `${directive}---\na: 3\n`],
    ],
    ['an end without directives', ['a: 1\n...\n', '---\na: 2\n']],
    ['an end and comments', ['a: 1\n...\n# %\n\n', '---\na: 2\n']],
    ['an empty document', [`${directive}---\n`, '---\na: 2\n']],
    ['a percent sign in text', ['a: |\n  %x\n  ...\n', '---\na: 2\n']],
    ['a text that is not a directive', ['--- |\n%x\n', '---\na: 2\n']],
  ])('splits %s', (_, parts) => {
    for (const lineEnd of ['\n', '\r\n']) {
      const written = parts.map((part) => part.replaceAll('\n', lineEnd))
      const found = [...documentsOf(written.join(''))]
      expect(found.map(({ text }) => text)).toEqual(written)
      const before = written.map((_part, at) => written.slice(0, at).join(''))
      expect(found.map(({ line }) => line)).toEqual(before.map((text) => text.split('\n').length))
      expect(found.map(({ text }) => parseYaml(text).ok)).toEqual(written.map(() => true))
    }
  })

  it.each([
    [
      'a byte order mark before a later document',
      'a: 1\n\uFEFF---\nb: 2\n',
      'has a byte order mark after the beginning of the file; remove it',
      1,
    ],
    [
      'a byte order mark after a marker',
      '---\n\uFEFFa: 1\n',
      'has a byte order mark after the beginning of the file; remove it',
      1,
    ],
    [
      'lines that end with CR alone',
      'a: 1\rb:\r  - c: "\r',
      'has lines that end with a carriage return alone; end them with a line feed',
      0,
    ],
    [
      'a file that is one comment by its line ends',
      '# a comment\ra: 1\r',
      'has lines that end with a carriage return alone; end them with a line feed',
      0,
    ],
  ])('reports %s', (_, text, message, line) => {
    expect(parseYaml(text)).toMatchObject({ ok: false, message, line })
  })

  it('applies a directive inside a document to no other document', () => {
    const parts = [`a: 1\n${directive}`, '---\na: 2\n']
    const found = Array.from(documentsOf(parts.join('')), ({ text }) => text)
    expect(found).toEqual(parts)
    expect(found.map((text) => parseYaml(text).ok)).toEqual([false, true])
  })
})
