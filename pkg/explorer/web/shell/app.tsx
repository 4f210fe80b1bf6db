import { useRef, useState } from 'preact/hooks'
import { boot } from '../api/boot.ts'
import { ErrorBoundary } from '../parts/error-boundary.tsx'
import { Note } from '../parts/message.tsx'
import { ResourcesPage } from '../resources/page.tsx'
import { matchRoute, type Route } from '../routes.ts'
import { useUrl } from '../url/navigate.ts'
import { resourceHref } from '../url/pages.ts'
import { useFocusOnHeading } from './heading.ts'
import { KeyList } from './key-list.tsx'
import { useKeys } from './keys.ts'
import { LazyPage } from './lazy-page.tsx'
import { NotFoundPage } from './not-found.tsx'
import { Palette } from './palette.tsx'
import { clearDevToken } from './session.ts'
import { Sidebar } from './sidebar.tsx'

/** The page of the URL with sidebar and dialogs. */
export function App() {
  const url = useUrl()
  const route = matchRoute(url)
  const [open, setOpen] = useState<'palette' | 'keys' | undefined>()
  const opener = useRef<Element | null>(null)
  const show = (what: 'palette' | 'keys'): void => {
    opener.current ??= document.activeElement
    setOpen(what)
  }
  const close = (): void => {
    setOpen(undefined)
    if (opener.current instanceof HTMLElement) opener.current.focus()
    opener.current = null
  }
  useKeys(show)
  useFocusOnHeading(placeOf(route))
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <div class="app">
        <Sidebar page={route.page} path={url.pathname} onFind={() => show('palette')} />
        <main id="main" tabIndex={-1}>
          {boot.devTokenInUse && <DevTokenBanner />}
          <ErrorBoundary resetOn={url.pathname} what="This page">
            <CurrentPage url={url} />
          </ErrorBoundary>
        </main>
      </div>
      {open === 'palette' && <Palette onClose={close} onKeys={() => setOpen('keys')} />}
      {open === 'keys' && <KeyList onClose={close} />}
      <p id="announcements" class="vh" role="status" />
    </>
  )
}

/** Stays the same while only the choices on a page change. */
const placeOf = ({ page, resource }: Route): string =>
  resource === undefined ? page : `${page} ${resourceHref(resource)}`

const nowhere = { namespace: '', kind: '', name: '' }
const first = { category: '', slug: '' }

function CurrentPage({ url }: { readonly url: URL }) {
  const route = matchRoute(url)
  const { page, resource = nowhere, range = { from: '', to: '' }, place = first } = route
  if (page === 'resources') return <ResourcesPage search={url.searchParams} />
  if (page === 'not-found') return <NotFoundPage />
  return (
    <LazyPage
      key={placeOf(route)}
      name={page}
      search={url.searchParams}
      address={resource}
      range={range}
      place={place}
    />
  )
}

function DevTokenBanner() {
  const clear = (
    <button type="button" class="btn" onClick={() => void clearDevToken().catch(() => undefined)}>
      Clear token
    </button>
  )
  return (
    <Note tone="warn dev-token" icon="key" role="note" end={clear}>
      Developer token in use. It decides what you see, not your sign-in.
    </Note>
  )
}
