import { number } from './format.ts'

/** A number next to a heading. Screen readers announce its changes. */
export const Count = ({ children }: { readonly children: preact.ComponentChildren }) => (
  <span class="quiet num" role="status">
    {children}
  </span>
)

interface Props {
  readonly id: string
  readonly words: string
  /** A number that filters change. Null while it is unknown. */
  readonly count?: number | null
  /** A number that stays. */
  readonly total?: number | undefined
  /** A remark next to the heading. */
  readonly about?: preact.ComponentChildren
  /** Buttons and links at the end of the line. */
  readonly end?: preact.ComponentChildren
  readonly look?: 'sec' | 'part'
  readonly children: preact.ComponentChildren
}

/** A part of a page with a heading. */
export const Section = ({ id, words, count, total, about, end, look = 'sec', children }: Props) => (
  <section class={look} aria-labelledby={id}>
    <header>
      <h2 id={id}>{words}</h2>
      {count !== undefined && <Count>{count !== null && number(count)}</Count>}
      {total !== undefined && <span class="quiet num">{number(total)}</span>}
      {about !== undefined && <span class="quiet">{about}</span>}
      {end !== undefined && <span class="end">{end}</span>}
    </header>
    {children}
  </section>
)
