import { markedParts, matchedFields, type SearchMatch } from './matches.ts'

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
