/**
 * Counts the words of the sentences of README.md and docs/*.md, except in code, tables and generated pages:
 * `node hack/sentences.ts` prints the sentences that are too long, and fails if there is one or a page is too long on average.
 */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const mostWords = 40
const mostOnAverage = 25

/** The sentences of a page. Items of lists and headings are sentences of their own. */
export function sentencesOf(page: string): string[] {
  return page
    .replaceAll(/^ *(```|~~~)[^]*?^ *\1$/gm, '\n\n')
    .replaceAll(/<!--[^]*?-->|^ *\|.*$|^\[.*\]: .*$/gm, '\n\n')
    .split(/\n\s*\n|^ *(?:[-*]|\d+\.) |^#+ /m)
    .map((block) =>
      block
        .replaceAll(/`[^`]*`/g, 'CODE')
        .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/\s+/g, ' '),
    )
    .flatMap((block) => block.split(/(?<=[.!?:]["')*]*) (?=["'(*]*[A-Z0-9])/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
}

export const wordsIn = (sentence: string): number =>
  sentence.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length

/** Says which sentences of a page have too many words, and whether it has too many on average. */
export function problemsIn(page: string): string[] {
  const sentences = sentencesOf(page)
  const words = sentences.map(wordsIn)
  const average = words.reduce((sum, count) => sum + count, 0) / Math.max(1, words.length)
  return [
    ...(average > mostOnAverage ? [`${average.toFixed(1)} words a sentence on average`] : []),
    ...sentences.flatMap((sentence, at) =>
      (words[at] ?? 0) > mostWords ? [`${words[at]} words: ${sentence}`] : [],
    ),
  ]
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  for (const file of globSync(['README.md', 'docs/*.md'], { cwd: root })) {
    const page = readFileSync(join(root, file), 'utf8')
    if (page.startsWith('<!-- Generated')) continue
    for (const problem of problemsIn(page)) {
      console.log(`${file}: ${problem}`)
      process.exitCode = 1
    }
  }
}
