import { useEffect, useRef } from 'preact/hooks'

/** How long a page may take to render its final heading. */
const longestMs = 10_000

/**
 * Focuses the heading of a new page, where screen readers begin. If the heading is rendered again, for example when the answer
 * arrives, it gets the focus again, until the person presses a key or a button.
 */
export function useFocusOnHeading(path: string): void {
  const before = useRef(path)
  useEffect(() => {
    if (before.current === path) return undefined
    before.current = path
    const stop = new AbortController()
    const focus = (): void => {
      const isFree = document.activeElement === null || document.activeElement === document.body
      if (isFree) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
    }
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
    const observer = new MutationObserver(focus)
    observer.observe(document.body, { childList: true, subtree: true })
    stop.signal.addEventListener('abort', () => observer.disconnect())
    const { signal } = stop
    const end = (): void => stop.abort()
    addEventListener('keydown', end, { signal })
    addEventListener('pointerdown', end, { signal })
    const timer = setTimeout(end, longestMs)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [path])
}
