import type { CallerView } from '../auth/auth.ts'
import type { BrowseOptions } from './browse.ts'

/** Callers who all see the same; nobody is known before being asked. */
export function callersSeeing(viewOf: () => CallerView): NonNullable<BrowseOptions['auth']> {
  return {
    mode: 'oidc',
    viewOf,
    publishers: { mayPublish: () => false },
    now: { readerOf: () => undefined, viewOf: () => undefined },
  }
}
