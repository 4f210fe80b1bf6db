import { useEffect, useState } from 'preact/hooks'
import { matchRoute } from '../routes.ts'

/*
 * The URL is the state of every page. Choices push a history entry, typing replaces it. Scroll positions are kept for each
 * entry, because the browser restores them before a page is rendered.
 */

const positions = new Map<string, number>()
const listeners = new Set<() => void>()
let current = new URL(location.href)

interface Entry {
  readonly key: string
}
const newKey = (): string => `${Date.now()}.${Math.random()}`
const entryKey = (): string => (history.state as Entry | null)?.key ?? ''

function update(): void {
  current = new URL(location.href)
  for (const listener of listeners) listener()
}

/** @param href a URL of this origin */
export function navigate(href: string, how: 'push' | 'replace' = 'push'): void {
  const url = new URL(href, location.href)
  if (how === 'replace') history.replaceState(history.state, '', url)
  else if (url.href !== location.href) history.pushState({ key: newKey() } satisfies Entry, '', url)
  update()
}

/** Changes parameters of the page's URL. */
export type UrlChange<V> = (changed: Partial<V>, how?: 'push' | 'replace') => void

export const currentUrl = (): URL => current

/** The current URL; redraws when it changes. */
export function useUrl(): URL {
  const [url, setUrl] = useState(current)
  useEffect(() => {
    const listener = (): void => setUrl(current)
    listeners.add(listener)
    listener()
    return () => void listeners.delete(listener)
  }, [])
  return url
}

/** Opens links to known pages without loading a document. The browser handles all other links. */
function onClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (link === null || link.target !== '' || link.hasAttribute('download') || link.href === '')
    return
  const url = new URL(link.href)
  if (url.origin !== location.origin || matchRoute(url).page === 'not-found') return
  const samePage = url.pathname === location.pathname && url.search === location.search
  if (samePage && url.hash !== '') return
  event.preventDefault()
  const { path, follows } = { path: location.pathname, follows: link.dataset['keep'] === undefined }
  navigate(url.href)
  if (follows && path !== url.pathname) scrollTo(0, 0)
}

/** Restores the scroll position of the history entry as soon as the page is long enough. */
function restoreScroll(): void {
  const top = positions.get(entryKey()) ?? 0
  const reach = (): boolean => {
    scrollTo(0, top)
    return Math.abs(scrollY - top) < 2
  }
  if (reach()) return
  const observer = new ResizeObserver(() => {
    if (reach()) observer.disconnect()
  })
  observer.observe(document.body)
  setTimeout(() => observer.disconnect(), 2000)
}

export function startRouter(): void {
  history.scrollRestoration = 'manual'
  if (entryKey() === '') history.replaceState({ key: newKey() } satisfies Entry, '')
  addEventListener('scroll', () => positions.set(entryKey(), scrollY), { passive: true })
  document.addEventListener('click', onClick)
  addEventListener('popstate', () => {
    const hashOnly = current.pathname === location.pathname && current.search === location.search
    if (entryKey() === '') history.replaceState({ key: newKey() } satisfies Entry, '')
    update()
    if (!hashOnly) requestAnimationFrame(restoreScroll)
  })
}
