import { useEffect } from 'preact/hooks'
import type { Query } from '../api/use-query.ts'
import { goToLogin } from '../shell/session.ts'
import { ErrorBoundary } from './error-boundary.tsx'
import { ErrorCard, StaleBanner } from './error-card.tsx'

interface Props<T> {
  readonly query: Query<T>
  /** What it shows, as in `The findings`. */
  readonly what: string
  readonly skeleton: preact.ComponentChildren
  readonly children: (data: T) => preact.ComponentChildren
  /** What resets the filters, for an answer that says that a parameter is wrong. */
  readonly resetHref?: string
}

/** A part of a page that has its own answer, and every state that such an answer can be in. */
export function Region<T>({ query, what, skeleton, children, resetHref }: Props<T>) {
  const { data, error, fetching, refetch } = query
  const denied = error?.status === 401
  useEffect(() => {
    if (denied) goToLogin()
  }, [denied])
  const gone = denied || error?.status === 403 || error?.status === 404 || error?.status === 400
  if (data === undefined || (gone && error !== undefined)) {
    if (error === undefined)
      return (
        <div class="late" aria-busy="true">
          {skeleton}
        </div>
      )
    return <ErrorCard error={error} what={what} refetch={refetch} resetHref={resetHref} />
  }
  return (
    <ErrorBoundary resetOn={`${query.updatedAt}`} what={what}>
      {error !== undefined && <StaleBanner query={query} />}
      <div class={fetching && (query.previous || error === undefined) ? 'region stale' : 'region'}>
        <Content draw={children} data={data} />
      </div>
    </ErrorBoundary>
  )
}

/** A component of its own, so that the boundary sees what its drawing throws. */
function Content<T>({ draw, data }: { draw: (data: T) => preact.ComponentChildren; data: T }) {
  return <>{draw(data)}</>
}
