import { RegistryError } from '../../base/errors/errors.ts'
import type { ByteSource } from './byte-source.ts'
import { sha256Of } from './sha256.ts'

/** Why the body of an archive was broken off; the `reason` of `archive_aborts_total`. */
export type AbortReason = 'checksum' | 'truncated' | 'client' | 'backend'

/** What a body must be, and what is called with how it went. */
export interface Expected {
  /** Of this body, which may be a part of an archive. */
  readonly sizeBytes: number
  /** Hexadecimal; not given where the bytes need not be checked. */
  readonly sha256?: string | undefined
  readonly onEnd?: () => void
  readonly onAbort?: (reason: AbortReason, error: unknown) => void
}

/**
 * Passes a body on as it comes, except for its last chunk, which waits until length and digest are known to be right.
 * If they are not, reading fails, so that the caller that promised `sizeBytes` bytes must break the connection: no client gets a
 * whole archive that is not the one of the digest. An empty body has no last chunk: check its digest before.
 */
export function checkedBody(
  body: ByteSource,
  { sizeBytes, sha256, onEnd, onAbort }: Expected,
): ByteSource {
  const hash = sha256 === undefined ? undefined : sha256Of(sizeBytes)
  let seenBytes = 0
  let over = false
  let reason: AbortReason = 'backend'

  async function next(): Promise<Uint8Array | undefined> {
    const chunk = await body.read()
    if (chunk === undefined) {
      if (seenBytes === sizeBytes) return undefined
      reason = 'truncated'
      throw badGateway('the archive in storage ends too early')
    }
    seenBytes += chunk.byteLength
    if (seenBytes > sizeBytes) throw grown()
    if (hash !== undefined) await hash.update(chunk)
    if (seenBytes === sizeBytes) await checkEnd()
    return chunk
  }

  async function checkEnd(): Promise<void> {
    if (hash !== undefined && (await hash.digest()) !== sha256) {
      reason = 'checksum'
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
        // The chunk before may still be on its way: it is the reader who closes.
        if (!over) onAbort?.(reason, error)
        over = true
        hash?.drop()
        throw error
      }
    },
    close() {
      if (!over) onAbort?.('client', undefined)
      over = true
      hash?.drop()
      body.close()
    },
  }
}

/** The error of an archive that is not the one of its digest. */
export function mismatch(): RegistryError {
  return badGateway('the archive in storage does not match its checksum; tell its owner')
}

const grown = () => badGateway('the archive in storage grew while it was read')

const badGateway = (message: string) => new RegistryError('BadGateway', message)
