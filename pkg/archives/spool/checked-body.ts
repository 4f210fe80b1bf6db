import { createHash } from 'node:crypto'
import { type ReasonOf, RegistryError } from '../../base/errors/errors.ts'
import type { ByteSource } from './byte-source.ts'

/** The reason why sending an archive was aborted; the label `reason` of `archive_aborts_total`. */
export type AbortReason = ReasonOf<
  'ChecksumMismatch' | 'Truncated' | 'ClientGone' | 'StorageFailed'
>

/** The expected size and digest of a body, and callbacks for its end. */
export interface Expected {
  /** Size of this body, which may be a part of an archive. */
  readonly sizeBytes: number
  /** Hexadecimal; undefined if the bytes need not be checked. */
  readonly sha256?: string | undefined
  readonly onEnd?: () => void
  readonly onAbort?: (reason: AbortReason, error: unknown) => void
}

/**
 * Passes a body on as it arrives, but holds back the last chunk until length and digest are checked. If they are wrong,
 * reading fails, and the caller, who promised `sizeBytes` bytes, must abort the connection. So no client gets a whole
 * archive with another digest. An empty body has no last chunk, so check its digest before.
 */
export function checkedBody(
  body: ByteSource,
  { sizeBytes, sha256, onEnd, onAbort }: Expected,
): ByteSource {
  const hash = sha256 === undefined ? undefined : createHash('sha256')
  let seenBytes = 0
  let over = false
  let reason: AbortReason = 'StorageFailed'

  async function next(): Promise<Uint8Array | undefined> {
    const chunk = await body.read()
    if (chunk === undefined) {
      if (seenBytes === sizeBytes) return undefined
      reason = 'Truncated'
      throw badGateway('the archive in storage ends too early')
    }
    seenBytes += chunk.byteLength
    if (seenBytes > sizeBytes) throw grown()
    hash?.update(chunk)
    if (seenBytes === sizeBytes) await checkEnd()
    return chunk
  }

  async function checkEnd(): Promise<void> {
    if (hash !== undefined && hash.digest('hex') !== sha256) {
      reason = 'ChecksumMismatch'
      throw mismatch()
    }
    if ((await body.read()) !== undefined) throw grown()
  }

  return {
    async read() {
      if (over) return undefined
      try {
        const chunk = await next()
        if (seenBytes === sizeBytes && !over) {
          over = true
          onEnd?.()
        }
        return chunk
      } catch (error) {
        // The previous chunk may still be in use. The reader closes the body.
        if (!over) onAbort?.(reason, error)
        over = true
        throw error
      }
    },
    close() {
      if (!over) onAbort?.('ClientGone', undefined)
      over = true
      body.close()
    },
  }
}

/** The error for an archive with another digest. */
export function mismatch(): RegistryError {
  return badGateway('the archive in storage does not match its checksum; tell its owner')
}

const grown = () => badGateway('the archive in storage grew while it was read')

const badGateway = (message: string) => new RegistryError('BadGateway', message)
