import { useTitle } from './title.ts'

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
