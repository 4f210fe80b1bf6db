import type { PackedDocs } from './packed-docs.ts'
import { maxPagesBytes, packPages } from './pages-file.ts'
import { type PagePlace, pagePlaceOf, readPage } from './provider-pages.ts'

const maxPages = 3_000
const maxPageBytes = 256 * 1024
const cutNote = `\n\n*The rest of this page is left out: it has more than ${maxPageBytes / 1024} KiB.*\n`

interface Collected extends PagePlace {
  readonly chunks: Uint8Array[]
  sizeBytes: number
}

/** Collects the pages of a provider's documentation while the files of a release are read. */
export class PageCollector {
  readonly #pages = new Map<string, Collected>()
  #leftOut = 0
  #sizeBytes = 0

  /**
   * Accepts a file if it is a page.
   *
   * @param path below the root of the release
   * @returns a consumer of the bytes; undefined to skip them
   */
  readonly take = (path: string): ((chunk: Uint8Array) => void) | undefined => {
    const place = pagePlaceOf(path)
    if (place === undefined) return undefined
    const key = typeof place === 'object' ? `${place.isOld} ${place.category} ${place.slug}` : ''
    if (place === 'unusable' || this.#pages.has(key) || this.#pages.size === maxPages) {
      this.#leftOut += 1
      return undefined
    }
    const page: Collected = { ...place, chunks: [], sizeBytes: 0 }
    this.#pages.set(key, page)
    return (chunk) => {
      const room = Math.min(maxPageBytes + 1 - page.sizeBytes, maxPagesBytes - this.#sizeBytes)
      const taken = chunk.subarray(0, room)
      if (taken.length > 0) page.chunks.push(Uint8Array.from(taken))
      page.sizeBytes += chunk.length
      this.#sizeBytes += taken.length
    }
  }

  /** @returns undefined if there were no pages, unless an empty list is wanted, too */
  async packed({ isEmptyToo = false } = {}): Promise<PackedDocs | undefined> {
    const all = [...this.#pages.values()]
    const news = all.filter(({ isOld }) => !isOld)
    const pages = (news.length > 0 ? news : all).toSorted((a, b) => (a.path < b.path ? -1 : 1))
    if (pages.length + this.#leftOut === 0 && !isEmptyToo) return undefined
    const whole = pages.filter(
      ({ chunks, sizeBytes }) => sizeOf(chunks) >= Math.min(sizeBytes, maxPageBytes),
    )
    const read = whole.map((page) => {
      const isCut = page.sizeBytes > maxPageBytes
      const bytes = Buffer.concat(page.chunks).subarray(0, maxPageBytes)
      // Drops a character that was cut at the end.
      const text = new TextDecoder().decode(bytes, { stream: isCut })
      return readPage(page, isCut ? text + cutNote : text)
    })
    return packPages(read, this.#leftOut + pages.length - whole.length)
  }
}

const sizeOf = (chunks: readonly Uint8Array[]): number =>
  chunks.reduce((sum, { length }) => sum + length, 0)
