import { normalizeVersion } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { writeStatus } from '../status.ts'
import { type VersionStatus, versionStatus } from '../version/work.ts'
import { ownedBy } from './children.ts'
import { versionOfStored } from './desired.ts'

/** Marks the Versions of a Module that upstream no longer lists, and those that it lists again. */
export async function markGone(
  context: Context,
  parent: StoredObject,
  missing: readonly string[],
): Promise<void> {
  const gone = new Set(missing.map(normalizeVersion))
  await markVersions(context, ownedBy(context, parent), (child) => gone.has(versionOfStored(child)))
}

/** Marks the Versions that upstream no longer has, so that nobody tries to fetch them again. */
export async function markVersions(
  context: Context,
  children: readonly StoredObject[],
  isGone: (child: StoredObject) => boolean,
): Promise<void> {
  for (const child of children) {
    const upstream = isGone(child) ? 'Gone' : undefined
    if (versionStatus(child).upstream === upstream) continue
    await writeStatus<VersionStatus>(context, child, () => ({
      fields: { upstream },
      conditions: {},
    }))
  }
}
