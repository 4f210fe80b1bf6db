import { ArchiveError, quoted } from './archive-error.ts'

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
