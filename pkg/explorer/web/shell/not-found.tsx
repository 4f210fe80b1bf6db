import { NotVisible } from '../parts/error-card.tsx'
import { PageHead } from './page-head.tsx'

/** Shown for a URL that is not a page. */
export const NotFoundPage = () => (
  <>
    <PageHead title="Not found" />
    <NotVisible />
  </>
)
