import { NamedRows } from './named-rows.ts'

/** How often one archive was downloaded. */
export interface DownloadCount {
  readonly kind: 'Module' | 'Provider'
  readonly namespace: string
  readonly name: string
  /** Without a leading `v`. */
  readonly version: string
  /** Platform of a provider's archive; absent for modules. */
  readonly os?: string | undefined
  readonly arch?: string | undefined
  readonly count: number
  /** Time of the last one, in milliseconds since 1970. */
  readonly lastAt: number
}

export interface Downloads {
  readonly count: number
  readonly lastAt: number
}

/** What is known of one resource; archives that are gone stay in its sum. */
export interface ResourceDownloads extends Downloads {
  /** Of each archive, by its version and then by {@link platformOf}. */
  readonly byVersion: ReadonlyMap<string, ReadonlyMap<string, Downloads>>
  /** Of one archive. */
  of(archive: Archive): Downloads | undefined
}

type Archive = Pick<DownloadCount, 'version' | 'os' | 'arch'>

class Tally implements ResourceDownloads {
  count = 0
  lastAt = 0
  readonly byVersion = new Map<string, Map<string, Downloads>>()

  of(archive: Archive): Downloads | undefined {
    return this.byVersion.get(archive.version)?.get(platformOf(archive))
  }

  put(archive: DownloadCount, { count, lastAt }: Downloads): void {
    const { version } = archive
    const platform = platformOf(archive)
    const platforms = this.byVersion.get(version) ?? new Map<string, Downloads>()
    this.byVersion.set(version, platforms)
    this.count += count - (platforms.get(platform)?.count ?? 0)
    this.lastAt = Math.max(this.lastAt, lastAt)
    platforms.set(platform, { count, lastAt })
  }
}

/** Download counts by resource and archive. They are kept whether or not the resource exists just now. */
export class DownloadTable {
  readonly #tallies = { Module: new NamedRows<Tally>(), Provider: new NamedRows<Tally>() }

  of(kind: 'Module' | 'Provider', namespace: string, name: string): ResourceDownloads | undefined {
    return this.#tallies[kind].get(namespace, name)
  }

  /** Adds to what is known. */
  record(more: DownloadCount): void {
    const tally = this.#tallyOf(more)
    const known = tally.of(more)
    tally.put(more, {
      count: (known?.count ?? 0) + more.count,
      lastAt: Math.max(known?.lastAt ?? 0, more.lastAt),
    })
  }

  /** Replaces what is known. */
  set(whole: DownloadCount): void {
    this.#tallyOf(whole).put(whole, whole)
  }

  #tallyOf({ kind, namespace, name }: DownloadCount): Tally {
    return this.#tallies[kind].getOrSet(namespace, name, () => new Tally())
  }
}

export function platformOf({ os = '', arch = '' }: Pick<DownloadCount, 'os' | 'arch'>): string {
  return `${os}/${arch}`
}
