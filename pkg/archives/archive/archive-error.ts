/** Why an archive is not taken. Each is a mistake of the author of the archive: the same bytes are refused again. */
export type ArchiveReason =
  /** Neither zip, tar nor tar.gz, or one that is damaged. */
  | 'NotAnArchive'
  /** A name, link or layout that readers could disagree about, or that leaves the directory. */
  | 'UnsafeArchive'
  | 'ArchiveTooLarge'
  | 'Encrypted'
  /** There is no configuration at the root of the module. */
  | 'NoModuleAtRoot'
  /** The zip does not hold the executable of the provider. */
  | 'NoProviderInArchive'

const maxMessageLength = 256

/** An archive that is refused. The message says what to change; it has at most 256 printable characters. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
  readonly reason: ArchiveReason

  constructor(reason: ArchiveReason, message: string, options?: ErrorOptions) {
    super(printable(message, maxMessageLength), options)
    this.reason = reason
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
