import { isDeepStrictEqual } from 'node:util'
import { printable } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { type Context, timeOf } from '../context.ts'
import { writeStatus } from '../status.ts'
import { type VersionStatus, versionStatus } from '../version/work.ts'
import { ownedBy } from './children.ts'

const by = 'UpstreamPolicy'

/**
 * Withdraws the stored versions of a parent that the policy of its Depot denies, and gives back those that it no longer denies.
 *
 * @param messageOf why a version is denied; undefined if it is not
 */
export async function quarantine(
  context: Context,
  parent: StoredObject,
  messageOf: (version: string) => string | undefined,
): Promise<void> {
  const { objects, clock } = context
  for (const version of ownedBy(context, parent)) {
    const message = messageOf((version.spec as { version: string }).version)
    const before = versionStatus(version).quarantinedBy ?? []
    const known = before.find((entry) => entry.by === by)
    if (known?.message === message) continue
    const since = timeOf(clock())
    const write = ({ quarantinedBy = [] }: VersionStatus = {}) => {
      const others = quarantinedBy.filter((entry) => entry.by !== by)
      const all = message === undefined ? others : [...others, { by, message, since } as const]
      return {
        fields: { quarantinedBy: all.length > 0 ? all : undefined },
        conditions: {},
        isObserved: false,
      }
    }
    const written = await writeAnyway(context, version, write)
    const isWritten = written && !isDeepStrictEqual(versionStatus(written).quarantinedBy, before)
    if (!isWritten) continue
    const note =
      message === undefined ? 'the policy no longer denies it: it is served again' : message
    const reason = message === undefined ? 'QuarantineLifted' : 'Quarantined'
    const type = message === undefined ? 'Normal' : 'Warning'
    objects.event({ object: version, type, reason, note: printable(note, 1024) })
  }
}

/** Nothing else would ask for this write again, and it does not depend on the spec. */
async function writeAnyway(
  context: Context,
  version: StoredObject,
  change: Parameters<typeof writeStatus<VersionStatus>>[2],
): Promise<StoredObject | undefined> {
  const { namespace, name, uid } = version.metadata
  let current: StoredObject | undefined = version
  while (current?.metadata.uid === uid) {
    const written = await writeStatus<VersionStatus>(context, current, change)
    if (written !== undefined) return written
    current = await context.objects.fresh('Version', namespace, name)
  }
  return undefined
}
