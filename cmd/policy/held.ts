import { printable } from '../../pkg/base/errors/errors.ts'
import { type HeldVersion, heldBackCount, heldBackIn } from '../../pkg/fill/sync/sync.ts'
import type { Objects } from '../../pkg/records/store/store.ts'

/** A version that a policy holds back, and where. */
export interface HeldRow extends HeldVersion {
  readonly resource: string
}

/** Lists the versions that wait, then those that are refused. */
export function heldRows(objects: Objects): HeldRow[] {
  return (['Module', 'Provider'] as const)
    .flatMap((kind) => objects.list(kind))
    .flatMap((parent) => {
      const { namespace, name } = parent.metadata
      const resource = `${parent.kind} ${namespace}/${name}`
      return heldBackIn(parent).map((held) => ({ resource, ...held }))
    })
    .toSorted((a, b) => (a.until ?? '9999').localeCompare(b.until ?? '9999'))
}

/** Number of further versions, which do not fit into a status. */
export function unlistedCount(objects: Objects): number {
  return heldBackCount(objects) - heldRows(objects).length
}

export function heldText(rows: readonly HeldRow[], unlisted: number): string {
  if (rows.length === 0) return 'Nothing is held back.\n'
  const lines = rows.map(({ resource, version, address, until, message, by }) => {
    const whose = by === 'Installation' ? ' (policy of the installation)' : ''
    const parts = [until && `until ${until}`, message && printable(message, 8192)].filter(
      (part) => part !== undefined,
    )
    return `${resource} ${version} (${address}): ${parts.join('; ')}${whose}\n`
  })
  return `${lines.join('')}${rows.length} held back${unlisted > 0 ? `, and ${unlisted} more that do not fit into the status of their resource` : ''}\n`
}
