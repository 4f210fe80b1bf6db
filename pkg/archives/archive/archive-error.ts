import { type Reason, ReasonError } from '../../base/errors/errors.ts'

const maxMessageLength = 256

/** A refused archive. The message says what to change and has at most 256 printable characters. */
export class ArchiveError extends ReasonError {
  override readonly name = 'ArchiveError'

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(reason, printable(message, maxMessageLength), options)
  }
}

/** A name from an archive for a message: in quotes, at most 100 characters. */
export const quoted = (name: string): string => JSON.stringify(printable(name, 100))

/** Replaces everything that could break a terminal, a log or a page. */
function printable(text: string, maxLength: number): string {
  const clean = text.toWellFormed().replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd')
  const characters = Array.from(clean)
  return characters.length <= maxLength ? clean : `${characters.slice(0, maxLength - 1).join('')}…`
}

/** The bytes contradict the zip's own headers. */
export const damagedZip = (what: string, cause?: unknown): ArchiveError =>
  new ArchiveError('NotAnArchive', `the zip is damaged: ${what}. Build or fetch it again`, {
    cause,
  })

/** Readers could take the bytes for different archives. */
export const ambiguousZip = (what: string): ArchiveError =>
  new ArchiveError(
    'UnsafeArchive',
    `readers disagree about this zip: ${what}. Build it again with another tool`,
  )
