import { useEffect } from 'preact/hooks'

/** Sets the title of the page, which ends with the name of the product. */
export function useTitle(...parts: readonly string[]): void {
  const title = [...parts, 'Depot'].join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}
