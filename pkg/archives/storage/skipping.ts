import type { ByteSource } from '../spool/spool.ts'

/** A source without its first bytes, which it reads and discards. */
export function skipping(source: ByteSource, bytes: number): ByteSource {
  let left = bytes
  return {
    async read() {
      for (;;) {
        const chunk = await source.read()
        if (chunk === undefined || left === 0) return chunk
        const rest = chunk.subarray(Math.min(left, chunk.length))
        left -= chunk.length - rest.length
        if (rest.length > 0) return rest
      }
    },
    close: () => source.close(),
  }
}
