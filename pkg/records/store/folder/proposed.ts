import { readKept, rejectionLine } from '../../folder/folder.ts'
import { objectKinds } from '../memory.ts'
import type { StoredObject } from '../types.ts'
import { identified, wholeKeeper } from './object-rules.ts'

export interface ProposedObjects {
  readonly objects: readonly StoredObject[]
  /** Mistakes, one per line. */
  readonly mistakes: readonly string[]
}

/**
 * Reads the objects of a file or folder that may not be part of the records yet.
 *
 * @throws the error of the file system if there is nothing at this path
 */
export async function proposedObjects(path: string, apiGroup: string): Promise<ProposedObjects> {
  const read = await readKept(path, apiGroup, wholeKeeper)
  return {
    objects: read.flatMap(({ entries }) =>
      entries.flatMap(({ key, object }) => {
        const kind = objectKinds.find((one) => one === key.kind)
        return kind === undefined || object === undefined ? [] : [identified(kind, object, '')]
      }),
    ),
    mistakes: read.flatMap(({ rejections }) => rejections.map(rejectionLine)),
  }
}
