import { NotVisible } from '../parts/error-card.tsx'
import { useTitle } from './title.ts'

/** A URL that is no page. */
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
