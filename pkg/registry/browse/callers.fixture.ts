import type { CallerView } from '../auth/auth.ts'
import type { BrowseOptions } from './browse.ts'

/** Callers who all have the same view. Nobody is known before the first call. */
export function callersSeeing(viewOf: () => CallerView): NonNullable<BrowseOptions['auth']> {
  return {
    mode: 'oidc',
    viewOf,
    publishers: { mayPublish: () => false },
    now: { readerOf: () => undefined, viewOf: () => undefined },
  }
}
