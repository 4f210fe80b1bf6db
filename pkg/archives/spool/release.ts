import type { FileHandle } from 'node:fs/promises'

/** Closes a file after pending reads. Does not wait for them, because they may hang. */
export function release(file: FileHandle): void {
  file.close().catch(() => {})
}
