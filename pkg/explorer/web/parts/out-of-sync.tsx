import { useId, useLayoutEffect, useState } from 'preact/hooks'
import { Hidden, Icon } from './icon.tsx'

/** The amber icon of a resource with versions out of sync. Hover, focus and tap show why; Escape hides it. */
export function OutOfSync() {
  const [shown, setShown] = useState(false)
  const id = useId()
  // Before the page is painted, so that a key pressed right after it is not lost.
  useLayoutEffect(() => {
    if (!shown) return undefined
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') setShown(false)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [shown])
  const show = (): void => setShown(true)
  const hide = (): void => setShown(false)
  return (
    <button
      type="button"
      class={shown ? 'amber show' : 'amber'}
      aria-describedby={id}
      onClick={show}
      onPointerEnter={show}
      onPointerLeave={hide}
      onFocus={show}
      onBlur={hide}
    >
      <Icon name="warn" />
      <Hidden>Warning</Hidden>
      <span class="tip" role="tooltip" id={id}>
        Some versions are out of sync
      </span>
    </button>
  )
}
