import { printable, type Reason, ReasonError } from '../../base/errors/errors.ts'

const mebibyte = 1024 * 1024

/** Limits of an archive. Everything is counted while it is read. Sizes in headers can only be a reason to refuse. */
export interface ArchiveLimits {
  /** Prefix of its options, such as `--module-size-limit`. */
  readonly kind: 'module' | 'provider'
  /** Size of the archive itself. */
  readonly packedBytes: number
  /** Size of all entries, with a copy for every link. */
  readonly unpackedBytes: number
  /** Number of entries of any kind. */
  readonly entries: number
  /** Maximum ratio of unpacked to packed bytes. */
  readonly ratio: number
  /** The ratio is not checked up to this unpacked size. */
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
  kind: 'module',
  ...shared,
  packedBytes: 100 * mebibyte,
  unpackedBytes: 500 * mebibyte,
}

export const providerLimits: ArchiveLimits = {
  kind: 'provider',
  ...shared,
  packedBytes: 2048 * mebibyte,
  unpackedBytes: 4096 * mebibyte,
}

/** Limits of archives of each kind. */
export interface LimitsByKind {
  readonly module: ArchiveLimits
  readonly provider: ArchiveLimits
}

export const defaultLimits: LimitsByKind = { module: moduleLimits, provider: providerLimits }

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`

/** @throws ArchiveError ArchiveTooLarge */
export function checkPacked(bytes: number, { kind, packedBytes }: ArchiveLimits): void {
  if (bytes > packedBytes) {
    throw tooLarge(`the archive has more than ${mebibytes(packedBytes)}`, `--${kind}-size-limit`)
  }
}

/** @throws ArchiveError ArchiveTooLarge */
export function checkEntries(count: number, { entries }: ArchiveLimits): void {
  if (count > entries) throw tooLarge(`the archive has more than ${entries} entries`)
}

/**
 * @param unpacked bytes so far, or those that headers announce
 * @param packed the packed size of these bytes
 * @throws ArchiveError ArchiveTooLarge
 */
export function checkUnpacked(unpacked: number, packed: number, limits: ArchiveLimits): void {
  const { kind, unpackedBytes, ratio, ratioAboveBytes } = limits
  if (unpacked > unpackedBytes) {
    const what = `the archive unpacks to more than ${mebibytes(unpackedBytes)}`
    throw tooLarge(what, `--${kind}-unpacked-limit`)
  }
  if (unpacked > ratioAboveBytes && unpacked > packed * ratio) {
    throw tooLarge(`the archive unpacks to more than ${ratio} times its size`)
  }
}

const tooLarge = (what: string, option?: string): ArchiveError =>
  new ArchiveError(
    'ArchiveTooLarge',
    `${what}: leave out what the module or provider does not need${option === undefined ? '' : `, or raise ${option}`}`,
  )

/** An archive that is refused. The message says what to change and has at most 256 printable bytes. */
export class ArchiveError extends ReasonError {
  override readonly name = 'ArchiveError'

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(reason, printable(message), options)
  }
}

/** Quotes a name from an archive for a message: at most 100 bytes. */
export const quoted = (name: string): string => JSON.stringify(printable(name, 100))

/** The bytes contradict the headers of the zip itself. */
export const damagedZip = (what: string, cause?: unknown): ArchiveError =>
  new ArchiveError('NotAnArchive', `the zip is damaged: ${what}. Build or fetch it again`, {
    cause,
  })

/** Different readers could take the bytes for different archives. */
export const ambiguousZip = (what: string): ArchiveError =>
  new ArchiveError(
    'UnsafeArchive',
    `readers disagree about this zip: ${what}. Build it again with another tool`,
  )
