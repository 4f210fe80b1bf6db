import { createHash } from 'node:crypto'
import type { TreeFile } from './module-tree.ts'
import type { Scratch } from './scratch.ts'

/**
 * Files of a module that are hashed while they are packed: what is refused before, or lies beside the module in its
 * repository, is never hashed.
 */
export class HashedFiles {
  readonly #scratch: Scratch
  readonly #digests = new Map<string, string>()

  constructor(scratch: Scratch) {
    this.#scratch = scratch
  }

  async *read(file: TreeFile): AsyncGenerator<Buffer> {
    const hash = createHash('sha256')
    for await (const chunk of this.#scratch.read(file)) {
      hash.update(chunk)
      yield chunk
    }
    this.#digests.set(file.path, hash.digest('hex'))
  }

  /** @throws Error for a file that was not read to its end */
  digested(file: TreeFile): TreeFile & { readonly sha256: string } {
    const sha256 = this.#digests.get(file.path)
    if (sha256 === undefined) throw new Error('a file was not packed')
    return { ...file, sha256 }
  }
}
