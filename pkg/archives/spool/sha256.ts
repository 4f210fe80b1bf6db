import { createHash } from 'node:crypto'
import { type Digesting, hashingThread } from './hashing-thread.ts'

/** Hashing this much takes about as long as handing it to another thread. */
const inlineBytes = 64 * 1024

/**
 * The SHA-256 of bytes that come one after the other. What is more than a chunk is hashed in another thread, so that
 * requests need not wait for it.
 *
 * @param sizeBytes how many will come, as far as is known
 */
export function sha256Of(sizeBytes: number): Digesting {
  if (sizeBytes > inlineBytes) return hashingThread.start()
  const hash = createHash('sha256')
  return {
    async update(bytes) {
      hash.update(bytes)
    },
    digest: async () => hash.digest('hex'),
    drop() {},
  }
}
