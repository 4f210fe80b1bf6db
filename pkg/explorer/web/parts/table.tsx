import { number } from './format.ts'
import { useScrolls } from './use-scrolls.ts'

export interface Head {
  readonly words: preact.ComponentChildren
  readonly class?: string | undefined
  readonly sort?: 'ascending' | 'descending' | undefined
}

interface Props {
  readonly label: string
  /** A text is a head with nothing else. */
  readonly heads: readonly (Head | string)[]
  readonly children: preact.ComponentChildren
  /** `stack` shows labelled values instead of columns in narrow windows. `flow` lets them share lines. */
  readonly look?: string
  /** Whether the rows are placeholders, which screen readers skip. */
  readonly busy?: boolean
}

/** A table that keeps its roles when CSS shows it as a list. It takes the focus only while it scrolls. */
export function Table({ label, heads, children, look = 'stack', busy = false }: Props) {
  const { box, scrolls } = useScrolls<HTMLDivElement>()
  return (
    <div
      ref={box}
      class={`tbl ${look}`}
      {...(scrolls && { role: 'group', 'aria-label': label, tabIndex: 0 })}
    >
      <table role="table" aria-label={label} aria-busy={busy}>
        <thead role="rowgroup">
          <tr role="row">
            {heads.map((head, at) => (
              <HeadCell key={at} {...(typeof head === 'string' ? { words: head } : head)} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" aria-hidden={busy || undefined}>
          {children}
        </tbody>
      </table>
    </div>
  )
}

const HeadCell = ({ words, class: name, sort }: Head) => (
  <th role="columnheader" scope="col" class={name} aria-sort={sort}>
    {words}
  </th>
)

interface CellProps {
  /** Shown before the value in narrow windows, where the heads are hidden. */
  readonly label?: string
  readonly class?: string | undefined
  readonly children?: preact.ComponentChildren
}

export const Cell = ({ label, class: name, children }: CellProps) => (
  <td role="cell" class={name} data-l={label}>
    {children}
  </td>
)

export const RowHead = ({ class: name, children }: CellProps) => (
  <th role="rowheader" scope="row" class={name}>
    {children}
  </th>
)

interface NumberProps {
  readonly label: string
  readonly value: number
}

export const NumberCell = ({ label, value }: NumberProps) => (
  <Cell label={label} class="num">
    {number(value)}
  </Cell>
)

/** A dash that screen readers read as none. */
export const None = () => (
  <>
    <span class="quiet" aria-hidden="true">
      –
    </span>
    <span class="vh">none</span>
  </>
)

export const CodeOrNone = ({ text }: { readonly text: string | undefined }) =>
  text === undefined || text === '' ? <None /> : <code>{text}</code>

export const CodeCell = ({ text, ...cell }: CellProps & { readonly text: string | undefined }) => (
  <Cell {...cell}>
    <CodeOrNone text={text} />
  </Cell>
)
