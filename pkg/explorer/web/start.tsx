/* The app: reads the data in the page, then renders the page of the URL. */
import { render } from 'preact'
import { startFromPrime } from './api/use-query.ts'
import { matchRoute } from './routes.ts'
import { App } from './shell/app.tsx'
import { isLazy, loadOtherPages, loadPage } from './shell/lazy-page.tsx'
import { keepSignedIn, signOutWithOtherTabs } from './shell/session.ts'
import { startRouter } from './url/navigate.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no element with the id app')

async function start(into: HTMLElement): Promise<void> {
  const { page } = matchRoute(new URL(location.href))
  // Keep the server's page until the code has loaded, because rendering twice would flicker.
  if (isLazy(page)) await loadPage(page).catch(() => undefined)
  startFromPrime()
  startRouter()
  const focused = document.activeElement?.closest('a')?.getAttribute('href')
  into.replaceChildren()
  render(<App />, into)
  // Keep the focus on the link that had it in the server's HTML.
  if (focused) into.querySelector<HTMLElement>(`a[href="${CSS.escape(focused)}"]`)?.focus()
  keepSignedIn()
  signOutWithOtherTabs()
  loadOtherPages()
}

// Not awaited: pages import from this file's chunk, so each would wait for the other.
void start(root)
