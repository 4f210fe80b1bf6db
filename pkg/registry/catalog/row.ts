import type { Depot, GroupBinding, Namespace } from '../../api/v1alpha1/v1alpha1.ts'
import { identityOf, ResourceRow, revisionOf } from './resource-row.ts'
import { isSameArchive, VersionRow } from './version-row.ts'

export type PlainResource = Depot | GroupBinding | Namespace

/** Other kinds are few, so they are kept as they are. */
export class OtherRow {
  readonly resource: PlainResource
  readonly revision: number
  /** Hash of the object's uid. */
  readonly identity: number
  generation = 0

  constructor(resource: PlainResource) {
    this.resource = resource
    this.revision = revisionOf(resource.metadata.resourceVersion)
    this.identity = identityOf(resource.metadata.uid)
  }
}

/** The row of an object of any kind. */
export type Row = VersionRow | ResourceRow | OtherRow

/** Whether a row was made from this state of this object. Revisions that are not numbers count as equal. */
export function isRowOf(
  { revision, identity }: Row,
  { resourceVersion, uid }: { readonly resourceVersion: string; readonly uid: string },
): boolean {
  return Object.is(revision, revisionOf(resourceVersion)) && identity === identityOf(uid)
}

/** Whether a changed object still has the version and address under which it was published. */
export function isSamePublication(row: Row, old: Row): boolean {
  if (row instanceof VersionRow && old instanceof VersionRow) {
    const isSameParent = row.parentName === old.parentName && row.ownerUid === old.ownerUid
    return isSameArchive(row, old) && isSameParent && row.system === old.system
  }
  if (row instanceof ResourceRow && old instanceof ResourceRow) {
    return row.configName === old.configName && row.system === old.system
  }
  return false
}
