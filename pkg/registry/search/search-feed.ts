import type { Logger } from '../../base/telemetry/telemetry.ts'
import { type DocsStorage, docsOfVersion } from '../documentation/documentation.ts'
import type { Search, Wanted } from './search.ts'

/** Documentation that is read at the same time. */
const parallel = 2
const retryMs = 5 * 60_000
/** How often to look for changes that no question has applied. */
const idleMs = 60_000

export interface SearchFeedOptions {
  readonly search: Search
  readonly archives: DocsStorage
  readonly log: Logger
}

/** Reads the documentation of latest versions in the background, and adds it to the search: each digest once, failures later again. */
export class SearchFeed {
  readonly #options: SearchFeedOptions
  readonly #timers = new Set<NodeJS.Timeout>()
  #running = 0
  #isClosed = false

  constructor(options: SearchFeedOptions) {
    this.#options = options
  }

  start(): void {
    this.#options.search.onWanted = () => this.#read()
    this.#follow()
  }

  #follow(): void {
    this.#options.search.follow()
    this.#later(idleMs, () => this.#follow())
  }

  #read(): void {
    while (this.#running < parallel && !this.#isClosed) {
      const wanted = this.#options.search.take()
      if (wanted === undefined) return
      this.#running += 1
      void this.#describe(wanted).finally(() => {
        this.#running -= 1
        this.#read()
      })
    }
  }

  async #describe(wanted: Wanted): Promise<void> {
    const { search, archives, log } = this.#options
    const { entry, version } = wanted
    const { namespace, name } = entry.parent
    try {
      search.describe(wanted, await docsOfVersion(entry.parent, version, archives))
    } catch (err) {
      log.warn(
        { component: 'search', namespace, name, version, err },
        'search lacks the documentation of a module: it is read again in five minutes',
      )
      this.#later(retryMs, () => {
        search.want(wanted)
        this.#read()
      })
    }
  }

  #later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, ms).unref()
    this.#timers.add(timer)
  }

  close(): void {
    this.#isClosed = true
    for (const timer of this.#timers) clearTimeout(timer)
  }
}
