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

/** One entry of an archive, with a checked name. */
export interface ArchiveEntry {
  /** Segments joined by `/`; empty for the root itself. */
  readonly path: string
  readonly kind: 'file' | 'directory' | 'symlink'
  readonly executable: boolean
  /** The target of a symbolic link in a tar. In a zip, the target is the content. */
  readonly target?: string | undefined
  /** The bytes, readable once. The next entry skips unread bytes. */
  readonly content: AsyncIterable<Uint8Array>
}

/** An archive to read, of any format, or a folder. */
export interface ArchiveReading {
  readonly file: string
  readonly limits: ArchiveLimits
  readonly signal?: AbortSignal | undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Control characters, Unicode line separators, and the replacement character of bytes that are not UTF-8. */
const unprintable = /[\p{Cc}\u2028\u2029\ufffd]/u

/**
 * Returns the path of an entry if every reader on every system resolves it to the same place inside the directory.
 *
 * @param name as in the archive; a leading `./` and a trailing `/` are removed
 * @throws ArchiveError UnsafeArchive
 */
export function entryPath(name: string | Uint8Array, maxBytes: number): string {
  const text = typeof name === 'string' ? name : decode(name)
  const path = text.replace(/^(?:\.\/)+/, '').replace(/\/$/, '')
  if (path === '' || path === '.') {
    if (/^(?:\.\/)*\.?$/.test(text)) return ''
    throw unsafe(text, 'is empty or absolute')
  }
  const mistake = mistakeIn(path, maxBytes)
  if (mistake !== undefined) throw unsafe(text, mistake)
  return path
}

function mistakeIn(path: string, maxBytes: number): string | undefined {
  if (Buffer.byteLength(path) > maxBytes) return `is longer than ${maxBytes} bytes`
  if (unprintable.test(path) || !path.isWellFormed())
    return 'has control characters or bytes that are not UTF-8'
  if (path.startsWith('/')) return 'is absolute'
  if (path.includes('\\')) return 'has a backslash'
  const segments = path.split('/')
  if (segments.includes('..')) return 'leads out of the archive'
  if (segments.includes('.') || segments.includes('')) return 'has an empty part'
  // A wrapping directory may be removed later, so each part may become the first.
  if (segments.some((segment) => /^[a-z]:/i.test(segment))) return 'has the letter of a drive'
  return undefined
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    const shown = Buffer.from(bytes).toString('latin1')
    throw new ArchiveError(
      'UnsafeArchive',
      `the name ${quoted(shown)} is not UTF-8: rename the file, or pack it with a tool that writes UTF-8`,
      { cause: error },
    )
  }
}

const unsafe = (name: string, what: string): ArchiveError =>
  new ArchiveError('UnsafeArchive', `the name ${quoted(name)} ${what}: rename it or leave it out`)

type Named = Pick<ArchiveEntry, 'path' | 'kind'>

/**
 * Refuses an archive if two names are the same file on some system: duplicates, names that differ only in case or Unicode
 * form, and a file with other files below it. Such an archive unpacks to different files on different systems.
 *
 * Clashing names are neighbours when sorted without these differences, so each is compared once.
 *
 * @throws ArchiveError UnsafeArchive
 */
export function checkDistinct(entries: readonly Named[]): void {
  const sorted = entries
    .map((entry) => ({ ...entry, folded: folded(entry.path) }))
    .toSorted((a, b) => (a.folded < b.folded ? -1 : Number(a.folded > b.folded)))
  sorted.forEach((entry, index) => {
    const before = sorted[index - 1]
    if (before !== undefined) compare(before, entry)
  })
}

/**
 * Names contain no NUL, so files below a directory sort directly after it. V8's `replaceAll` takes ten times as long,
 * because it creates a string for each part.
 */
const folded = (path: string): string =>
  path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC').split('/').join('\0')

function compare(first: Named & { folded: string }, second: Named & { folded: string }): void {
  if (differAsTheyAre(first, second)) return
  const [a, b] = [first.folded.split('\0'), second.folded.split('\0')]
  const [before, after] = [first.path.split('/'), second.path.split('/')]
  let same = 0
  while (same < a.length && a[same] === b[same]) {
    if (before[same] !== after[same]) {
      throw clash(first.path, second.path, 'differ only in case or in how Unicode writes them')
    }
    same += 1
  }
  if (same < a.length) return
  if (a.length === b.length) throw clash(first.path, second.path, 'are the same')
  if (first.kind !== 'directory') {
    throw clash(first.path, second.path, 'cannot be, a file and something below it')
  }
}

/** Most names are plain ASCII with the same prefix. A long list of deep paths must stay cheap. */
function differAsTheyAre(
  first: Named & { folded: string },
  second: Named & { folded: string },
): boolean {
  let same = 0
  while (same < first.folded.length && first.folded[same] === second.folded[same]) same += 1
  if (same === first.folded.length || !isPlain(first.path) || !isPlain(second.path)) return false
  return first.path.slice(0, same) === second.path.slice(0, same)
}

const isPlain = (text: string): boolean => /^[ -~]*$/.test(text)

const clash = (first: string, second: string, what: string): ArchiveError =>
  new ArchiveError(
    'UnsafeArchive',
    `${quoted(first)} and ${quoted(second)} ${what}: keep one of them`,
  )
