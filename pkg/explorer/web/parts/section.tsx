import { number } from './format.ts'

/** A number next to a heading, which screen readers say when it changes. */
export const Count = ({ children }: { readonly children: preact.ComponentChildren }) => (
  <span class="quiet num" role="status">
    {children}
  </span>
)

interface Props {
  readonly id: string
  readonly words: string
  /** Null while it is unknown. */
  readonly count?: number | null
  /** A remark next to the heading. */
  readonly about?: string
  readonly children: preact.ComponentChildren
}

/** A part of a page with a heading. */
export const Section = ({ id, words, count, about, children }: Props) => (
  <section class="sec" aria-labelledby={id}>
    <header>
      <h2 id={id}>{words}</h2>
      {count !== undefined && <Count>{count !== null && number(count)}</Count>}
      {about !== undefined && <span class="quiet">{about}</span>}
    </header>
    {children}
  </section>
)
