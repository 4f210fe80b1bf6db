import type { ExplorerPage } from '../routes.ts'
import {
  accessHref,
  conflictsHref,
  depotsHref,
  heldBackHref,
  publishHref,
  resourcesHref,
  statsHref,
} from '../url/pages.ts'
import { readChoice } from './storage.ts'

/** A page that people open with the sidebar, the palette or a key. */
export interface NavPlace {
  readonly words: string
  readonly icon: string
  readonly href: string
  /** The key to press after `g`. */
  readonly key?: string
  /** Pages that belong to it. */
  readonly pages: readonly ExplorerPage[]
}

/** URL of the registry in the view that was chosen last. */
export const homeHref = (): string =>
  resourcesHref(readChoice('view') === 'cards' ? { view: 'cards' } : {})

/** The pages that are always in the sidebar. */
export const places = (): readonly NavPlace[] => [
  {
    words: 'Registry',
    icon: 'registry',
    href: homeHref(),
    key: 'r',
    pages: ['resources', 'resource', 'compare', 'docs'],
  },
  { words: 'Depots', icon: 'depot', href: depotsHref(), key: 'd', pages: ['depots'] },
  { words: 'Publish', icon: 'publish', href: publishHref(), key: 'p', pages: ['publish'] },
  { words: 'Stats', icon: 'stats', href: statsHref(), key: 's', pages: ['stats'] },
  { words: 'Access', icon: 'key', href: accessHref(), pages: ['access'] },
]

export const heldBack: NavPlace = {
  words: 'Held back',
  icon: 'hold',
  href: heldBackHref(),
  pages: ['held-back'],
}

export const conflicts: NavPlace = {
  words: 'Conflicts',
  icon: 'clash',
  href: conflictsHref(),
  pages: ['conflicts'],
}
