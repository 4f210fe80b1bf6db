import { NotVisible } from '../parts/error-card.tsx'
import { useTitle } from './title.ts'

/** Shown for a URL that is not a page. */
export function NotFoundPage() {
  useTitle('Not found')
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Not found</h1>
      </div>
      <NotVisible />
    </>
  )
}
