import { useState } from 'preact/hooks'
import { number } from './format.ts'

interface Options {
  /** Items that are shown at first. */
  readonly first: number
  /** Items that each click adds. */
  readonly step: number
  /** Shows at least this many. */
  readonly least?: number
  readonly look?: string
}

/** The first items of a list, and a button for more, because thousands of rows are slow. */
export function useMore<T>(list: readonly T[], { first, step, least = 0, look = '' }: Options) {
  const [most, setMost] = useState(first)
  const shown = list.slice(0, Math.max(most, least))
  const later = list.slice(shown.length)
  const more = later.length > 0 && (
    <button type="button" class={`btn ${look}`.trim()} onClick={() => setMost(most + step)}>
      {later.length <= step ? `Show all ${number(list.length)}` : `Show ${number(step)} more`}
    </button>
  )
  return { shown, later, more }
}
