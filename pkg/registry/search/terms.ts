/** Words, and the names of Terraform: `aws_s3_bucket`, `vpc-peering`. */
const token = /[\p{L}\p{N}][\p{L}\p{N}_-]*/gu
const maxTermLength = 64

/** Shorter words have too many neighbours. Nobody types longer ones. */
const shortestTypo = 5
const longestTypo = 24

/** The words of a text in lower case. */
export function wordsIn(text: string): string[] {
  return text.toLowerCase().match(token) ?? []
}

/** The part of a word that the index contains. */
export const termOf = (word: string): string => word.slice(0, maxTermLength)

/** The words of a text and their parts: `aws_s3_bucket`, `aws`, `s3` and `bucket`. */
export function termsOf(text: string): Set<string> {
  return new Set(wordsIn(text).flatMap(termsOfWord))
}

function termsOfWord(word: string): string[] {
  return [word, ...word.split(/[_-]+/)].filter((term) => term !== '').map(termOf)
}

/** Returns as many lines as have at most a given number of different terms. The last line may be cut between two words. */
export function limitTerms(
  lines: readonly string[],
  limit: number,
): { readonly text: string; readonly count: number } {
  const terms = new Set<string>()
  const kept: string[] = []
  for (const line of lines) {
    const end = endWithin(line, terms, limit)
    if (end > 0) kept.push(line.slice(0, end))
    if (end < line.length) break
  }
  return { text: kept.join('\n'), count: terms.size }
}

/** Adds the terms of a line as long as they fit. @returns the start of the rest of the line */
function endWithin(line: string, terms: Set<string>, limit: number): number {
  let end = 0
  for (const match of line.matchAll(token)) {
    const own = termsOfWord(match[0].toLowerCase()).filter((term) => !terms.has(term))
    if (terms.size + new Set(own).size > limit) return end
    for (const term of own) terms.add(term)
    end = match.index + match[0].length
  }
  return line.length
}

/** Terms in the form that a search for typing errors needs. */
interface KnownTerms {
  readonly has: (term: string) => boolean
  /** The letters that follow a prefix in some term. */
  readonly lettersAfter: (prefix: string) => Iterable<string>
}

/** Every term that one typing error turns into the word: a letter more, less or changed, or two neighbours swapped. */
export function withOneError(word: string, { has, lettersAfter }: KnownTerms): string[] {
  if (word.length < shortestTypo || word.length > longestTypo) return []
  const found = new Set<string>()
  const consider = (term: string) => has(term) && found.add(term)
  for (let at = 0; at < word.length; at += 1) {
    const [before, after, rest] = [word.slice(0, at), word.slice(at), word.slice(at + 1)]
    consider(before + rest)
    if (rest !== '') consider(before + rest.charAt(0) + after.charAt(0) + rest.slice(1))
    let isPrefix = false
    for (const letter of lettersAfter(before)) {
      isPrefix = true
      consider(before + letter + after)
      consider(before + letter + rest)
    }
    if (!isPrefix) break
  }
  return [...found].filter((term) => !term.startsWith(word))
}
