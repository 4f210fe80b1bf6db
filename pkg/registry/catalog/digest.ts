import { sha256Bytes } from '../../api/v1alpha1/v1alpha1.ts'

/** A SHA-256 as 32 characters, which takes half the memory. @param checksum base64 or hexadecimal */
export function digestOf(checksum: string): string | undefined {
  return sha256Bytes(checksum)?.toString('latin1')
}
