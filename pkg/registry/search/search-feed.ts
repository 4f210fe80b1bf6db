import type { Logger } from '../../base/telemetry/telemetry.ts'
import { type DocsStorage, docsOfVersion } from '../documentation/documentation.ts'
import type { Search, Wanted } from './text-index.ts'

/** Number of documents that are read at the same time. */
const parallel = 2
const retryMs = 5 * 60_000
/** How often to look for changes that no question has applied. */
const idleMs = 60_000

const problem = 'search lacks the documentation of a module'

export interface SearchFeedOptions {
  readonly search: Search
  readonly archives: DocsStorage
  readonly log: Logger
}

/**
 * Reads the documentation of latest versions in the background, and adds it to the search. It reads each digest once, and
 * retries failures later.
 */
export class SearchFeed {
  readonly #options: SearchFeedOptions
  readonly #timers = new Set<NodeJS.Timeout>()
  /** Documentation that could not be read. Only the first failure is logged as a warning. */
  readonly #failed: Wanted[] = []
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
      const line = { component: 'search', namespace, name, version, err }
      if (this.#failed.length === 0) {
        log.warn(line, `${problem}: it is read again in five minutes, as is that of others`)
        this.#later(retryMs, () => this.#retry())
      } else log.debug(line, problem)
      this.#failed.push(wanted)
    }
  }

  #retry(): void {
    for (const wanted of this.#failed.splice(0)) this.#options.search.want(wanted)
    this.#read()
  }

  #later(ms: number, act: () => void): void {
    if (this.#isClosed) return
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
