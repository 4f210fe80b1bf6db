import { dedented } from '../../../../api/usage/usage.ts'

const typeWords = /\b(string|number|bool|any|list|set|map|object|tuple|optional)\b/

/** Longer types are not coloured, because that costs more than it helps. */
const longestColoured = 20_000

/** A type as its author wrote it. Words of the language are coloured. */
export function Type({ text }: { readonly text: string }) {
  const lines = dedented(text)
  if (lines.length > longestColoured) return lines
  return lines.split(typeWords).map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      <span key={at} class="k">
        {part}
      </span>
    ),
  )
}
