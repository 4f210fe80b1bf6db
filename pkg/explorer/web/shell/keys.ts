import { useLayoutEffect } from 'preact/hooks'
import { navigate } from '../url/navigate.ts'
import { places } from './places.ts'
import { readChoice } from './storage.ts'

/** Whether single keys are shortcuts. Speech input can press them by accident, so people can switch them off. */
const singleKeysOn = (): boolean => readChoice('keys') !== 'off'

const inField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest('input, select, textarea') !== null)

const sequenceMs = 1500

export function useKeys(show: (what: 'palette' | 'keys') => void): void {
  // Before the page is painted, so that a key pressed right after it works.
  useLayoutEffect(() => {
    let pressedG = 0
    const onKey = (event: KeyboardEvent): void => {
      const key = event.key.toLowerCase()
      if (key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
        event.preventDefault()
        show('palette')
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return
      if (!singleKeysOn() || inField(event.target)) return
      if (document.querySelector('dialog[open]') !== null) return
      const inSequence = event.timeStamp - pressedG < sequenceMs && pressedG !== 0
      pressedG = key === 'g' ? event.timeStamp : 0
      const target = inSequence ? places().find((place) => place.key === key)?.href : undefined
      if (target !== undefined) {
        event.preventDefault()
        navigate(target)
        scrollTo(0, 0)
      } else if (key === '?') {
        event.preventDefault()
        show('keys')
      } else if (key === '/') {
        const field = document.querySelector<HTMLInputElement>('[data-search=main]')
        event.preventDefault()
        if (field === null) show('palette')
        else field.focus()
      }
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
