/**
 * Bytes that are read on demand, so that a slow reader costs no memory. It is no stream of the platform, because those
 * cannot use a buffer twice: at hundreds of MB a second the garbage would be most of the memory of the process.
 */
export interface ByteSource {
  /**
   * The next bytes, or nothing at the end; one call at a time. What it gave stays as it is until the second call after,
   * or `close()`: one chunk can be written while the next one is read.
   *
   * @throws RegistryError when the backend fails or the object changes on the way; an early end is the reader's to notice
   */
  read(): Promise<Uint8Array | undefined>
  /** Gives back what it holds, which must not be used any more. Must be called in the end, after an error too; twice is fine. */
  close(): void
}

/** Why a read was given up. */
export const noAnswer = 'the archive storage does not answer'
