import type { ByteSource } from '../spool/spool.ts'

export interface Counting {
  /** Called with the size of each chunk as it is given. */
  readonly onBytes: (sizeBytes: number) => void
  /** Called with a copy of all bytes when the last one is given; undefined if no copy is wanted. */
  readonly onWhole?: ((bytes: Uint8Array<ArrayBuffer>) => void) | undefined
}

/** Passes a body on, counts its bytes, and may keep a copy of it. @param sizeBytes of the body */
export function countedBody(
  body: ByteSource,
  sizeBytes: number,
  { onBytes, onWhole }: Counting,
): ByteSource {
  const copy = onWhole === undefined ? undefined : new Uint8Array(sizeBytes)
  let givenBytes = 0
  let closed = false
  return {
    async read() {
      const chunk = await body.read()
      // The buffer of a closed body may already hold bytes of another one.
      if (chunk === undefined || closed) return undefined
      copy?.set(chunk, givenBytes)
      givenBytes += chunk.length
      onBytes(chunk.length)
      if (copy !== undefined && givenBytes === sizeBytes) onWhole?.(copy)
      return chunk
    },
    close() {
      closed = true
      body.close()
    },
  }
}
