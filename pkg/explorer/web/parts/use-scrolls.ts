import { useEffect, useRef, useState } from 'preact/hooks'

/** Whether an element scrolls sideways: only then it takes the focus, so that keys can scroll it. */
export function useScrolls<T extends HTMLElement>() {
  const box = useRef<T>(null)
  const [scrolls, setScrolls] = useState(false)
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() =>
      setScrolls(element.scrollWidth > element.clientWidth + 1),
    )
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    return () => observer.disconnect()
  }, [])
  return { box, scrolls }
}
