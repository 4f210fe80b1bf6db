import { useEffect } from 'preact/hooks'

interface Props {
  readonly title: string
  readonly children?: preact.ComponentChildren
}

/** The heading of a page, which is also the title of its window, and the elements next to it. */
export function PageHead({ title, children }: Props) {
  useTitle(title)
  return (
    <div class="page-head">
      <h1 tabIndex={-1}>{title}</h1>
      {children}
    </div>
  )
}

/** Sets the title of the page, which ends with the name of the product. */
export function useTitle(...parts: readonly string[]): void {
  const title = [...parts, 'Depot'].join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}
