import { useEffect } from 'preact/hooks'
import type { Query } from '../api/use-query.ts'
import { goToLogin } from '../shell/session.ts'
import { ErrorBoundary } from './error-boundary.tsx'
import { ErrorCard, StaleBanner } from './error-card.tsx'
import { Lines } from './skeleton.tsx'

interface Props<T> {
  readonly query: Query<T>
  /** Name of the content, such as `The findings`. */
  readonly what: string
  /** Shown while nothing is known: an element, or a number of lines of text. */
  readonly skeleton: preact.JSX.Element | number
  readonly children: (data: T) => preact.ComponentChildren
  /** URL without filters, offered if the server refuses a parameter. */
  readonly resetHref?: string
}

/** A part of a page with its own request, in any state of that request. */
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
          {typeof skeleton === 'number' ? <Lines count={skeleton} /> : skeleton}
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

/** A separate component, so that the boundary catches errors in drawing it. */
function Content<T>({ draw, data }: { draw: (data: T) => preact.ComponentChildren; data: T }) {
  return <>{draw(data)}</>
}
