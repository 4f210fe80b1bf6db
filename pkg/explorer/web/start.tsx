/* The app: reads what the server put into the page, then draws the page of the URL. */
import { render } from 'preact'
import { startFromPrime } from './api/use-query.ts'
import { matchRoute } from './routes.ts'
import { App } from './shell/app.tsx'
import { isLazy, loadOtherPages, loadPage } from './shell/lazy-page.tsx'
import { keepSignedIn } from './shell/session.ts'
import { startRouter } from './url/navigate.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no element with the id app')

async function start(into: HTMLElement): Promise<void> {
  const { page } = matchRoute(new URL(location.href))
  // Until its code is there, the page that the server sent stays: drawing twice would only flicker.
  if (isLazy(page)) await loadPage(page).catch(() => undefined)
  startFromPrime()
  startRouter()
  const focused = document.activeElement?.closest('a')?.getAttribute('href')
  into.replaceChildren()
  render(<App />, into)
  // Who was at a link of what the server drew goes on from there.
  if (focused) into.querySelector<HTMLElement>(`a[href="${CSS.escape(focused)}"]`)?.focus()
  keepSignedIn()
  loadOtherPages()
}

// Not awaited: pages import from this file's chunk, and would wait for it in turn.
void start(root)
