import { printable, type Reason, ReasonError } from '../../base/errors/errors.ts'

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
