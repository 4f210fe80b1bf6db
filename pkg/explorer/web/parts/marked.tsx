import type { SearchResults } from '../api/records.ts'

/** Marks the last occurrence of the typed text, because the ends of names distinguish them. */
export function Marked({ words, typed }: { readonly words: string; readonly typed: string }) {
  const at = typed === '' ? -1 : words.toLowerCase().lastIndexOf(typed.toLowerCase())
  if (at < 0) return <>{words}</>
  const end = at + typed.length
  return (
    <>
      {words.slice(0, at)}
      <mark>{words.slice(at, end)}</mark>
      {words.slice(end)}
    </>
  )
}

/** Marks every word of the query that begins a word of the text. */
export const MarkedWords = ({ text, typed }: { readonly text: string; readonly typed: string }) => (
  <>
    {markedParts(text, typed).map((part, at) =>
      at % 2 === 0 ? part : <mark key={at}>{part}</mark>,
    )}
  </>
)

interface MatchedProps {
  readonly matched: readonly SearchMatch[]
  readonly address: string
  readonly typed: string
}

/** The fields of a search result that matched, below its name. */
export function Matched({ matched, address, typed }: MatchedProps) {
  const { fields, hasMore } = matchedFields(matched, address, typed)
  if (fields.length === 0) return null
  return (
    <span class="matched">
      {fields.map(({ label, text }, at) => (
        <span key={label}>
          {at > 0 && ', '}
          {label}{' '}
          <code>
            <MarkedWords text={text} typed={typed} />
          </code>
        </span>
      ))}
      {hasMore && ', and more'}
    </span>
  )
}

/* Fields that a search matched, with the words of the query as the registry splits it. */

export type SearchMatch = SearchResults['items'][number]['matched'][number]

const labels: Readonly<Record<string, string>> = {
  name: 'Name',
  system: 'System',
  resource: 'Resource',
  provider: 'Provider',
  input: 'Input',
  output: 'Output',
  submodule: 'Submodule',
  description: 'Description',
  heading: 'README',
}
const shownFields = 2
const contextLength = 40
const excerptLength = 100

/** A word of letters, digits, `_` and `-` needs no escapes. The longest word that fits is marked. */
function patternOf(typed: string): RegExp | undefined {
  const words = typed.match(/[\p{L}\p{N}][\p{L}\p{N}_-]*/gu) ?? []
  const longestFirst = words.toSorted((a, b) => b.length - a.length)
  return words.length === 0
    ? undefined
    : new RegExp(`(?<![\\p{L}\\p{N}])(${longestFirst.join('|')})`, 'giu')
}

/** Parts of a text. Each second one begins a word of the text, and is a word of the query. */
export function markedParts(text: string, typed: string): readonly string[] {
  const pattern = patternOf(typed)
  return pattern === undefined ? [text] : text.split(pattern)
}

interface MatchedField {
  readonly label: string
  readonly text: string
}

/** The first match of two fields that the address does not show, and whether there are more matches. */
export function matchedFields(matched: readonly SearchMatch[], address: string, typed: string) {
  const unseen = matched.filter(
    ({ field, text }) =>
      !((field === 'name' || field === 'namespace') && address.split('/').includes(text)),
  )
  const first = new Map(unseen.toReversed().map(({ field, text }) => [field, text]))
  const fields: MatchedField[] = unseen
    .filter(({ field, text }) => first.get(field) === text)
    .slice(0, shownFields)
    .map(({ field, text }) => ({ label: labels[field] ?? field, text: excerpt(text, typed) }))
  return { fields, hasMore: unseen.length > fields.length }
}

/** The part of a long text around its first match, cut between words. */
function excerpt(text: string, typed: string): string {
  if (text.length <= excerptLength) return text
  const [before = '', match = ''] = markedParts(text, typed)
  const at = match === '' ? 0 : before.length
  const start = text.lastIndexOf(' ', Math.max(0, at - contextLength)) + 1
  const end = text.indexOf(' ', Math.max(start + excerptLength, at + match.length))
  return `${start > 0 ? '… ' : ''}${text.slice(start, end < 0 ? undefined : end)}${end < 0 ? '' : ' …'}`
}
