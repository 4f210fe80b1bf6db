import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Hidden, Icon } from './icon.tsx'

interface Props {
  readonly label: string
  readonly value: string
  /** Called 250 ms after the last key, or at once on Enter. */
  readonly onSearch: (value: string) => void
  /** Whether the key `/` focuses it. */
  readonly main?: boolean
  readonly placeholder?: string
  /** Called by Enter when the text was already searched: forward, or back with Shift. */
  readonly onJump?: (step: 1 | -1) => void
  readonly onEscape?: () => void
  /** Shown at the end of the field. */
  readonly children?: preact.ComponentChildren
}

const waitMs = 250

export function SearchField(props: Props) {
  const { label, value, onSearch, main = false, placeholder = label, onJump } = props
  const [typed, setTyped] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // Before the page is painted, so that keys typed right after it are not lost. A trailing space stays.
  useLayoutEffect(() => setTyped((text) => (text.trim() === value ? text : value)), [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const search = (text: string): void => {
    clearTimeout(timer.current)
    if (text.trim() !== value) onSearch(text.trim())
  }
  return (
    <label class="field search">
      <Icon name="search" />
      <Hidden>{label}</Hidden>
      <input
        type="search"
        placeholder={placeholder}
        autoComplete="off"
        spellcheck={false}
        maxLength={253}
        value={typed}
        data-search={main ? 'main' : undefined}
        onInput={(event) => {
          const text = event.currentTarget.value
          setTyped(text)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => search(text), waitMs)
        }}
        onKeyDown={(event) => {
          const text = event.currentTarget.value
          if (event.key === 'Escape') {
            clearTimeout(timer.current)
            props.onEscape?.()
          } else if (event.key !== 'Enter') return
          else if (text.trim() !== value) search(text)
          else onJump?.(event.shiftKey ? -1 : 1)
        }}
      />
      {props.children}
      {main && value === '' && <kbd class="only-wide">/</kbd>}
    </label>
  )
}
