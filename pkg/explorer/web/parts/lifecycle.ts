import type { VersionItem } from '../api/records.ts'
import { sentence } from './format.ts'

/** Why people should take another version, as sentences; empty if nobody said. */
export function lifecycleSentences({
  message,
  replacedBy,
}: NonNullable<VersionItem['lifecycle']>): string {
  const parts = [message && sentence(message), replacedBy && `Take ${replacedBy} instead.`]
  return parts.filter(Boolean).join(' ')
}
