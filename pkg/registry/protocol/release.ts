import { ReadyAnswer } from '../../base/serving/serving.ts'
import { compareText, type Parent, type VersionRow } from '../catalog/catalog.ts'

const textHeaders = { 'Content-Type': 'text/plain; charset=utf-8' }

/** One version of a provider with its downloadable platforms, at least one. */
export class Release {
  readonly platforms: readonly VersionRow[]
  #shasums: ReadyAnswer | undefined

  constructor(platforms: readonly VersionRow[]) {
    this.platforms = platforms
  }

  /** SHA256SUMS. */
  shasums(facts: ReadyAnswer['facts']): ReadyAnswer {
    this.#shasums ??= new ReadyAnswer(this.sumLines, textHeaders, facts)
    return this.#shasums
  }

  /**
   * In the format of sha256sum, ordered by file name. Digests of other platforms that upstream has follow, so that
   * a lock file that is made here is valid on those platforms.
   */
  get sumLines(): string {
    const served = this.platforms
      .toSorted((a, b) => compareText(a.fileName, b.fileName))
      .map((row) => `${row.sha256}  ${row.fileName}\n`)
    return [...served, ...this.#otherLines()].join('')
  }

  #otherLines(): string[] {
    const own = new Set(this.platforms.map(({ sha256 }) => sha256))
    const all = new Set(this.platforms.flatMap(({ releaseDigests }) => releaseDigests))
    return [...all]
      .filter((sha256) => !own.has(sha256))
      .map((sha256) => `${sha256}  other-platform-${sha256.slice(0, 12)}.zip\n`)
  }
}

/** An existing release. It is the same object until the provider or one of its Versions changes. */
export function releaseOf(provider: Parent, version: string): Release | undefined {
  const releases = provider.memo('releases', () => new Map<string, Release>())
  const known = releases.get(version)
  if (known !== undefined) return known
  const platforms = onePerPlatform(provider.rowsOf(version))
  if (platforms.length === 0) return undefined
  const release = new Release(platforms)
  releases.set(version, release)
  return release
}

export function onePerPlatform(rows: readonly VersionRow[]): VersionRow[] {
  const platforms = new Map<string, VersionRow>()
  for (const row of rows) {
    const platform = `${row.os}/${row.arch}`
    if (row.downloadable && !platforms.has(platform)) platforms.set(platform, row)
  }
  return [...platforms.values()]
}
