import { useState } from 'preact/hooks'
import { number } from '../../parts/format.ts'
import { Hidden, Icon } from '../../parts/icon.tsx'
import { SearchField } from '../../parts/search-field.tsx'

/** A row above a table: a filter, unless the table is short, and what else there is to do with it. */
export const Tools = (props: {
  readonly filter: { readonly label: string; readonly placeholder: string } | undefined
  readonly value: string
  readonly onSearch: (text: string) => void
  readonly pick?: preact.ComponentChildren
  readonly children?: preact.ComponentChildren
}) => (
  <>
    <div class="filters">
      {props.filter !== undefined && (
        <search aria-label={props.filter.label}>
          <SearchField {...props.filter} value={props.value} onSearch={props.onSearch} />
          {props.pick}
        </search>
      )}
      {props.children}
    </div>
    <div class="gap" />
  </>
)

/** Thousands of rows would take a browser half a minute. */
const rowsAtOnce = 300

/** The first rows of a list with the one that the URL names, and a button for more. */
export function useRows<T>(list: readonly T[], isTarget: (item: T) => boolean = () => false) {
  const [most, setMost] = useState(rowsAtOnce)
  const later = list.slice(most)
  const rows = [...list.slice(0, most), ...later.filter(isTarget)]
  const more = later.length > 0 && (
    <div class="foot">
      <button type="button" class="btn" onClick={() => setMost(most + rowsAtOnce)}>
        Show {number(Math.min(later.length, rowsAtOnce))} more
      </button>{' '}
      <span class="quiet">
        {number(most)} of {number(list.length)}
      </span>
    </div>
  )
  return { rows, more }
}

export const Empty = ({ children }: { readonly children: preact.ComponentChildren }) => (
  <div class="void">
    <h3>{children}</h3>
  </div>
)

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

/** Marks: what callers should know of an input or output, in a word each. */
export function Marks({ words }: { readonly words: readonly (string | false)[] }) {
  const said = words.filter((it) => it !== false)
  if (said.length === 0) return null
  return (
    <span class="marks">
      {said.map((it) => (
        <span key={it} class={it === 'Deprecated' ? 'tag mark warn' : 'tag mark'}>
          {it}
        </span>
      ))}
    </span>
  )
}

/** Text of a module about an input or output: text, never markup, but for code in backticks. */
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
