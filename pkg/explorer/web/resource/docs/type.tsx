import { dedented } from '../../../../api/usage/usage.ts'

const typeWords = /\b(string|number|bool|any|list|set|map|object|tuple|optional)\b/

/** A type as its author wrote it; words of the language are coloured. */
export const Type = ({ text }: { readonly text: string }) => (
  <>
    {dedented(text)
      .split(typeWords)
      .map((part, at) =>
        at % 2 === 0 ? (
          part
        ) : (
          <span key={at} class="k">
            {part}
          </span>
        ),
      )}
  </>
)
