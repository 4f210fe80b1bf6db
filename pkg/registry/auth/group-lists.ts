import { Bounded } from '../../base/memory/memory.ts'

const maxLists = 1000
/** Of all lists together: one may have thousands of groups. */
const maxBytes = 16 * 1024 * 1024

/** Callers of one team have equal lists of groups, which need to be in memory only once. */
export class GroupLists {
  readonly #lists = new Bounded<readonly string[]>({
    maxEntries: maxLists,
    maxBytes,
    sizeOf: bytesOfGroups,
  })
  readonly #keyedHash: (text: string) => string

  constructor(keyedHash: (text: string) => string) {
    this.#keyedHash = keyedHash
  }

  /** What the lists keep in memory, in bytes; for tests of the bound. */
  get bytes(): number {
    return this.#lists.bytes
  }

  /** The list that equals this one, which is this one where none is known. */
  shared(groups: readonly string[]): readonly string[] {
    return this.#lists.getOrMake(this.#keyedHash(JSON.stringify(groups)), () => groups)
  }
}

/** What a list keeps in memory. */
export function bytesOfGroups(groups: readonly string[]): number {
  return groups.reduce((sum, group) => sum + 32 + Buffer.byteLength(group), 0)
}
