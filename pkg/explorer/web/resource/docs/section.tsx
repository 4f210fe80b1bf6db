import { dedented } from '../../../../api/usage/usage.ts'
import type { VersionDocs } from '../../api/records.ts'
import { number } from '../../parts/format.ts'
import { Hidden, Icon } from '../../parts/icon.tsx'
import { Void } from '../../parts/message.tsx'
import { useMore } from '../../parts/more.tsx'
import { StateMark } from '../../parts/reason-mark.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Section } from '../../parts/section.tsx'
import { Table } from '../../parts/table.tsx'
import { hasFilter, noneOf, tabNames } from './inputs.ts'

interface ListProps<T> {
  readonly id: 'inputs' | 'outputs' | 'resources'
  readonly docs: VersionDocs
  /** All items, and those that the filter leaves. */
  readonly all: readonly T[]
  readonly listed: readonly T[]
  /** Fields that the filter searches, in words. */
  readonly by: string
  readonly filter: string
  readonly onFilter: (text: string) => void
  /** Changes the filter. */
  readonly pick?: preact.ComponentChildren
  /** Buttons that copy the list. */
  readonly copies?: preact.ComponentChildren
  readonly look?: string
  readonly heads: readonly string[]
  /** Whether the URL names an item. */
  readonly isTarget?: (item: T) => boolean
  readonly children: (rows: readonly T[]) => preact.ComponentChildren
}

/** A list of a module: its filter, unless it is short, its copy buttons, and its table. */
export function DocsList<T>({ id, docs, all, listed, isTarget, ...props }: ListProps<T>) {
  const { by, filter, onFilter, pick, copies, look = '', heads, children } = props
  const { shown, later, more } = useMore(listed, { first: rowsAtOnce, step: rowsAtOnce })
  // The row in the URL is rendered at once.
  const rows = isTarget === undefined ? shown : [...shown, ...later.filter(isTarget)]
  const words = tabNames[id]
  return (
    <Section id={id} words={words} count={listed.length}>
      {(hasFilter(all) || (copies !== undefined && all.length > 0)) && (
        <>
          <div class="filters">
            {hasFilter(all) && (
              <search aria-label={`Filter ${id}`}>
                <SearchField
                  label={`Filter ${id}`}
                  placeholder={`Filter by ${by}`}
                  value={filter}
                  onSearch={onFilter}
                />
                {pick}
              </search>
            )}
            {copies}
          </div>
          <div class="gap" />
        </>
      )}
      {listed.length === 0 ? (
        <Void words={all.length === 0 ? noneOf(id, docs) : `No ${id} match the filter.`} />
      ) : (
        <Table label={words} look={`stack docs ${look}`.trim()} heads={heads}>
          {children(rows)}
        </Table>
      )}
      {more && (
        <div class="foot">
          {more}{' '}
          <span class="quiet">
            {number(shown.length)} of {number(listed.length)}
          </span>
        </div>
      )}
    </Section>
  )
}

/** Thousands of rows would take a browser half a minute. */
const rowsAtOnce = 300

/** A name with a link to its row. */
export const Name = ({ name, id }: { readonly name: string; readonly id: string }) => (
  <span class="in-name">
    <code>
      <b>{name}</b>
    </code>
    <a class="anchor" href={`#${encodeURIComponent(id)}`} title={`Link to ${name}`}>
      <Icon name="link" />
      <Hidden>Link to {name}</Hidden>
    </a>
  </span>
)

/** Marks what callers should know of an input or output, in one word each. */
export function Marks({ words }: { readonly words: readonly (string | false)[] }) {
  const said = words.filter((it) => it !== false)
  if (said.length === 0) return null
  return (
    <span class="marks">
      {said.map((it) => (
        <StateMark key={it} state={it} />
      ))}
    </span>
  )
}

/** A text of a module about an input or output. It is shown as text, never as markup, except for code in backticks. */
export const Description = (props: {
  readonly text: string | undefined
  readonly deprecated: string | undefined
}) => (
  <>
    {props.text !== undefined && (
      <p class="lines">
        <WithCode text={props.text} />
      </p>
    )}
    {props.deprecated !== undefined && (
      <p class="lines">
        Deprecated: <WithCode text={props.deprecated} />
      </p>
    )}
  </>
)

export const WithCode = ({ text }: { readonly text: string }) => (
  <>
    {text
      .trimEnd()
      .split(/(?<!`)`([^`\n]+)`(?!`)/)
      .map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>))}
  </>
)

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
