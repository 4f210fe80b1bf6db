import { useEffect, useRef, useState } from 'preact/hooks'

/** Whether an element scrolls. Only then it takes the focus, so that keys can scroll it. */
export function useScrolls<T extends HTMLElement>() {
  const box = useRef<T>(null)
  const [scrolls, setScrolls] = useState(false)
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element
      setScrolls(scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1)
    })
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    return () => observer.disconnect()
  }, [])
  return { box, scrolls }
}
