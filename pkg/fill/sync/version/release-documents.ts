import { createHash } from 'node:crypto'
import { storedName } from '../../../archives/archive/archive.ts'
import type { ProviderRelease } from '../../sources/sources.ts'

/** A document of an upstream release, which is stored beside its archives. */
export interface ReleaseDocument {
  readonly field: 'shasums' | 'signature' | 'keys'
  readonly fileName: string
  readonly bytes: Buffer
}

/** The documents of a release that it has. Their names hold their digests, so that each is written once. */
export function documentsOf(type: string, release: ProviderRelease): ReleaseDocument[] {
  const { version, shasums, signature, key } = release
  const document = (field: ReleaseDocument['field'], ending: string, bytes: Buffer) => {
    const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
    return { field, bytes, fileName: storedName(`${type}_${version}`, `_${digest}.${ending}`) }
  }
  return [
    document('shasums', 'SHA256SUMS', shasums),
    ...(signature === undefined ? [] : [document('signature', 'SHA256SUMS.sig', signature)]),
    ...(key === undefined ? [] : [document('keys', 'keys.asc', Buffer.from(key))]),
  ]
}
