import { ArchiveError } from './archive-error.ts'
import type { ArchiveLimits } from './limits.ts'

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`

/** @throws ArchiveError ArchiveTooLarge */
export function checkPacked(bytes: number, { packedBytes }: ArchiveLimits): void {
  if (bytes > packedBytes) throw tooLarge(`the archive has more than ${mebibytes(packedBytes)}`)
}

/** @throws ArchiveError ArchiveTooLarge */
export function checkEntries(count: number, { entries }: ArchiveLimits): void {
  if (count > entries) throw tooLarge(`the archive has more than ${entries} entries`)
}

/**
 * @param unpacked bytes so far, or those that are announced
 * @param packed bytes that they were packed in
 * @throws ArchiveError ArchiveTooLarge
 */
export function checkUnpacked(unpacked: number, packed: number, limits: ArchiveLimits): void {
  const { unpackedBytes, ratio, ratioAboveBytes } = limits
  if (unpacked > unpackedBytes) {
    throw tooLarge(`the archive unpacks to more than ${mebibytes(unpackedBytes)}`)
  }
  if (unpacked > ratioAboveBytes && unpacked > packed * ratio) {
    throw tooLarge(`the archive unpacks to more than ${ratio} times its size`)
  }
}

const tooLarge = (what: string): ArchiveError =>
  new ArchiveError(
    'ArchiveTooLarge',
    `${what}: leave out what the module or provider does not need, or raise the limit`,
  )
