import { printable } from '../../pkg/fill/egress/egress.ts'
import type { FolderObjects, Objects, StoredObject } from '../../pkg/records/store/store.ts'

const kinds = ['Depot', 'Module', 'Provider', 'Version'] as const

interface Told {
  readonly synced?: boolean
  readonly syncStatus?: string
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly message: string
  }[]
}

/** Prints a line when an archive was stored. @returns what ends it */
export function printProgress(objects: Objects, print: (line: string) => void): () => void {
  return objects.onChange((ref, before, after) => {
    if (ref.kind !== 'Version' || after === undefined) return
    if (toldOf(after).synced === true && toldOf(before).synced !== true) {
      print(`stored ${ref.namespace}/${ref.name}`)
    }
  })
}

/** Lists the problems, and the removals that a person has to confirm, one line for each object. */
export function problemsOf(objects: FolderObjects): string[] {
  const unready = kinds.flatMap((kind) =>
    objects.list(kind).flatMap((object) => {
      const { conditions = [] } = toldOf(object)
      const { namespace, name } = object.metadata
      return (
        conditions
          .filter(
            ({ type, status }) =>
              (type === 'Ready' && status === 'False') ||
              (type === 'RemovalHeld' && status === 'True'),
          )
          // The status may be what a person wrote.
          .map(({ message }) => `${kind} ${namespace}/${name}: ${printable(message, 1000)}`)
      )
    }),
  )
  const mistakes = objects.mistakes().map((mistake) => printable(mistake, 1000))
  if (objects.unreadable() === undefined) return [...unready, ...mistakes]
  return [...unready, ...mistakes, 'no archive was removed, because not everything can be read']
}

/** One line that sums it up. */
export function summaryOf(objects: Objects): string {
  const versions = objects.list('Version')
  if (kinds.every((kind) => objects.list(kind).length === 0)) {
    return 'nothing to do: no Depot, Module or Provider is in the folder'
  }
  const synced = versions.filter((version) => toldOf(version).synced === true).length
  return `${synced} of ${versions.length} versions are stored`
}

function toldOf(object: StoredObject | undefined): Told {
  return object?.status ?? {}
}
