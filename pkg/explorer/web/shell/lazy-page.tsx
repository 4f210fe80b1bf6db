import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ExplorerPage } from '../routes.ts'
import type { DocsPlace, PageAddress, VersionRange } from '../url/pages.ts'

export interface PageProps {
  readonly search: URLSearchParams
  /** Address of a resource, for its pages. */
  readonly address: PageAddress
  /** Versions to compare, for the page that does. */
  readonly range: VersionRange
  /** The page of a documentation, for the page that shows it. */
  readonly place: DocsPlace
}

/* Other pages are separate files, which are loaded for their URL, by a click, or when the browser is idle. */
const loaders = {
  resource: async () => (await import('../resource/page.tsx')).ResourcePage,
  compare: async () => (await import('../compare/page.tsx')).ComparePage,
  docs: async () => (await import('../provider-docs/page.tsx')).ProviderDocsPage,
  depots: async () => (await import('../depots/page.tsx')).DepotsPage,
  stats: async () => (await import('../stats/page.tsx')).StatsPage,
  conflicts: async () => (await import('../conflicts/page.tsx')).ConflictsPage,
  'held-back': async () => (await import('../held-back/page.tsx')).HeldBackPage,
  publish: async () => (await import('../publish/page.tsx')).PublishPage,
  access: async () => (await import('../access/page.tsx')).AccessPage,
} satisfies Partial<Record<ExplorerPage, () => Promise<ComponentType<PageProps>>>>

export type LazyName = keyof typeof loaders
const loaded = new Map<LazyName, ComponentType<PageProps>>()

export const isLazy = (page: ExplorerPage): page is LazyName => Object.hasOwn(loaders, page)

/** Loads a page's code once. */
export async function loadPage(name: LazyName): Promise<void> {
  if (!loaded.has(name)) loaded.set(name, await loaders[name]())
}

export function loadOtherPages(): void {
  requestIdleCallback(
    () => {
      for (const name of Object.keys(loaders)) {
        if (isLazy(name as ExplorerPage)) void loadPage(name as LazyName).catch(() => undefined)
      }
    },
    { timeout: 5000 },
  )
}

export function LazyPage({ name, ...props }: PageProps & { readonly name: LazyName }) {
  const [state, setState] = useState<'loading' | 'loaded' | 'failed'>('loading')
  useEffect(() => {
    setState('loading')
    loadPage(name).then(
      () => setState('loaded'),
      () => setState('failed'),
    )
  }, [name])
  const Content = loaded.get(name)
  if (Content !== undefined) return <Content {...props} />
  if (state !== 'failed')
    return <h1 class="late" tabIndex={-1} aria-busy="true" aria-label="Loading" />
  return (
    <div class="void" role="alert">
      <h1>This page could not be loaded.</h1>
      <p>The explorer may have been updated, or it cannot be reached.</p>
      <button type="button" class="btn" onClick={() => location.reload()}>
        Reload
      </button>
    </div>
  )
}
