import { type Reason, ReasonError } from '../../base/errors/errors.ts'

const maxMessageLength = 256

/** An archive that is refused. The message says what to change; it has at most 256 printable characters. */
export class ArchiveError extends ReasonError {
  override readonly name = 'ArchiveError'

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(reason, printable(message, maxMessageLength), options)
  }
}

/** A name out of an archive as a message shows it: in quotes, and no longer than 100 characters. */
export const quoted = (name: string): string => JSON.stringify(printable(name, 100))

/** Text from outside with everything replaced that a terminal, a log or a page could stumble over. */
function printable(text: string, maxLength: number): string {
  const clean = text.toWellFormed().replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd')
  const characters = Array.from(clean)
  return characters.length <= maxLength ? clean : `${characters.slice(0, maxLength - 1).join('')}…`
}

/** Bytes that are not what a zip says of itself. */
export const damagedZip = (what: string, cause?: unknown): ArchiveError =>
  new ArchiveError('NotAnArchive', `the zip is damaged: ${what}. Build or fetch it again`, {
    cause,
  })

/** Bytes that readers can take for different archives. */
export const ambiguousZip = (what: string): ArchiveError =>
  new ArchiveError(
    'UnsafeArchive',
    `readers disagree about this zip: ${what}. Build it again with another tool`,
  )
