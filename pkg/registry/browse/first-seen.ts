import { hash } from 'node:crypto'
import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { View } from '../catalog/catalog.ts'

interface Seen {
  /** SHA-256 of the text, because the text may have megabytes. */
  readonly digest: string
  readonly at: string
}

/** How many keys are remembered for each view. */
const maxEntries = 64

/** Remembers when each view first saw a text. The time of the last change would reveal changes that the caller may not see. */
export class FirstSeen {
  readonly #ofView = new WeakMap<View, Bounded<Seen>>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The time since which a view sees this text under a key, in RFC 3339. */
  at(view: View, key: string, text: string): string {
    const digest = hash('sha256', text, 'base64')
    let seen = this.#ofView.get(view)
    if (seen === undefined) {
      seen = new Bounded({ maxEntries })
      this.#ofView.set(view, seen)
    }
    const known = seen.get(key)
    if (known?.digest === digest) return known.at
    const at = new Date(this.#clock()).toISOString()
    seen.set(key, { digest, at })
    return at
  }
}
