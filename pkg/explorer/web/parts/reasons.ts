import type { UnservedReason } from '../api/records.ts'

/* Reasons why known objects are not served. */

export const reasonWords: Readonly<Record<UnservedReason, { words: string; about: string }>> = {
  Duplicate: { words: 'Duplicate', about: 'The same version twice' },
  AddressTaken: {
    words: 'Address taken',
    about: 'Two Modules or Providers claim one address',
  },
  ParentMissing: { words: 'No parent', about: 'A Version of no Module or Provider' },
  NotSemver: { words: 'Not a version', about: 'The number is not a semantic version' },
  NoPlatform: { words: 'No platform', about: 'A Version of a Provider names none' },
  NoFileName: { words: 'No file name', about: 'The name of the archive is missing or not valid' },
  NoStorage: { words: 'No storage', about: 'Nothing says where the archive is' },
  ReleaseIncomplete: {
    words: 'Incomplete',
    about: 'Platforms of its release are missing',
  },
  NoDigest: { words: 'No digest', about: 'The checksum of the archive is missing' },
  BreakingChange: {
    words: 'Breaking',
    about: 'It breaks callers without a new major version, and is not stored',
  },
  Quarantined: { words: 'Quarantined', about: 'Withdrawn by a person or a policy' },
}

export const reasons = Object.keys(reasonWords) as UnservedReason[]
