import { useRef } from 'preact/hooks'

interface Props<T extends string> {
  readonly label: string
  /** Prefix of the ids: the panel is `{id}-panel`, a tab is `{id}-{value}`. */
  readonly id: string
  readonly chosen: T
  readonly tabs: readonly (readonly [value: T, words: string])[]
  readonly onChoose: (value: T) => void
}

/** Arrow keys move between tabs, as users of screen readers expect. */
export function Tabs<T extends string>({ label, id, chosen, tabs, onChoose }: Props<T>) {
  const list = useRef<HTMLDivElement>(null)
  const choose = (at: number): void => {
    const next = tabs[(at + tabs.length) % tabs.length]
    if (next === undefined) return
    onChoose(next[0])
    list.current?.querySelector<HTMLElement>(`#${id}-${next[0]}`)?.focus()
  }
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list}>
      {tabs.map(([value, words], at) => (
        <button
          key={value}
          type="button"
          role="tab"
          id={`${id}-${value}`}
          aria-controls={`${id}-panel`}
          aria-selected={value === chosen}
          tabIndex={value === chosen ? 0 : -1}
          onClick={() => onChoose(value)}
          onKeyDown={(event) => {
            if (event.key === 'ArrowRight') choose(at + 1)
            else if (event.key === 'ArrowLeft') choose(at - 1)
            else if (event.key === 'Home') choose(0)
            else if (event.key === 'End') choose(tabs.length - 1)
            else return
            event.preventDefault()
          }}
        >
          {words}
        </button>
      ))}
    </div>
  )
}
