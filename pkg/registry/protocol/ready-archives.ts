import { backendOf } from '../../api/v1alpha1/v1alpha1.ts'
import { SendableBody } from '../../base/fast/fast.ts'
import { CappedMap } from '../../base/memory/memory.ts'
import { type PlainRequest, ReadyAnswer } from '../../base/serving/serving.ts'
import type { VersionRow } from '../catalog/catalog.ts'
import { archiveHeaders, etagOf } from './archive-response.ts'
import { archivePattern } from './archive-url.ts'
import { modulePrefix } from './discovery.ts'
import type { RegistryOptions } from './options.ts'
import { servedArchive } from './respond.ts'

/** This bounds the URLs to some megabytes. */
const maxUrls = 4096
const maxUrlCharacters = 1024

/**
 * Archives of modules in memory, sent at once for a URL that the route has answered before. A URL is valid until its module
 * changes; then the route checks it again.
 */
export class ReadyArchives {
  readonly #options: RegistryOptions
  readonly #rows = new CappedMap<string, VersionRow>(maxUrls)
  /** By their bytes: an answer is kept as long as those are in memory. */
  readonly #answers = new WeakMap<Uint8Array, { row: VersionRow; answer: ReadyAnswer }>()

  constructor(options: RegistryOptions) {
    this.#options = options
  }

  /** @param url path and query of a GET that names the Version and was answered with the whole archive */
  remember(url: string | undefined, row: VersionRow): void {
    if (url === undefined || url.length > maxUrlCharacters) return
    this.#rows.set(url, row)
    urlsOf(row)?.add(url)
  }

  find({ url, ifNoneMatch }: PlainRequest): ReadyAnswer | undefined {
    const row = this.#rows.get(url)
    if (row === undefined || ifNoneMatch !== undefined) return undefined
    const { namespace, name } = row
    const isCurrent = this.#options.catalog.version(namespace, name) === row
    if (isCurrent && urlsOf(row)?.has(url)) return this.#answer(row)
    this.#rows.delete(url)
    return undefined
  }

  /** The archive of a module's version, if it is in memory. @param row one that can be downloaded */
  #answer(row: VersionRow): ReadyAnswer | undefined {
    const { sha256 = '' } = row
    const bytes = this.#options.archives.inMemory(sha256)
    if (bytes === undefined) return undefined
    const known = this.#answers.get(bytes)
    if (known?.row === row) return known.answer
    const { location, label } = servedArchive(row)
    const { namespace, name, version } = label
    const route = modulePrefix + archivePattern(backendOf(location.storage))
    const answer = new ReadyAnswer(
      SendableBody.sharing(bytes),
      archiveHeaders(location.fileName),
      { route, namespace, kind: 'Module', name, version },
      etagOf(sha256),
    )
    this.#answers.set(bytes, { row, answer })
    return answer
  }
}

/** URLs that are known to lead to a module's archives since its last change. */
const urlsOf = ({ parent }: VersionRow): Set<string> | undefined =>
  parent?.memo('archiveUrls', () => new Set<string>())
