const mebibyte = 1024 * 1024

/** How much an archive may be. All of it is counted while reading; what headers claim is only believed where it is too much. */
export interface ArchiveLimits {
  /** Size of the archive itself. */
  readonly packedBytes: number
  /** Size of everything in it, copies that links stand for included. */
  readonly unpackedBytes: number
  /** Entries of any kind. */
  readonly entries: number
  /** Unpacked bytes for each packed one. */
  readonly ratio: number
  /** What an archive may unpack to whatever its ratio. */
  readonly ratioAboveBytes: number
  /** Length of the path of an entry in UTF-8. */
  readonly pathBytes: number
}

const shared = {
  entries: 10_000,
  ratio: 200,
  ratioAboveBytes: 10 * mebibyte,
  pathBytes: 1024,
}

export const moduleLimits: ArchiveLimits = {
  ...shared,
  packedBytes: 100 * mebibyte,
  unpackedBytes: 500 * mebibyte,
}

export const providerLimits: ArchiveLimits = {
  ...shared,
  packedBytes: 2048 * mebibyte,
  unpackedBytes: 4096 * mebibyte,
}

/** How much archives of each kind may be. */
export interface LimitsByKind {
  readonly module: ArchiveLimits
  readonly provider: ArchiveLimits
}

export const defaultLimits: LimitsByKind = { module: moduleLimits, provider: providerLimits }
