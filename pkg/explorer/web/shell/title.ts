import { useEffect } from 'preact/hooks'

/** The page's title: what it shows, then the registry. */
export function useTitle(...parts: readonly string[]): void {
  const title = [...parts, 'Depot'].join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}
