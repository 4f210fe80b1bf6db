import { Hidden, Icon } from '../parts/icon.tsx'
import { Marked } from '../parts/marked.tsx'
import { type DepotNode, type FleetNode, nameOf } from './fleet.ts'

/** A filter or choice of this page as a URL. */
export type HrefOf = (node: FleetNode) => string

export const WaitIcon = () => (
  <>
    <Icon name="wait" tone="c-warn" />
    <Hidden>not synced</Hidden>
  </>
)

/** As wide where there is nothing to say, so that versions stand below each other. */
export const SyncSlot = ({ synced }: { readonly synced: boolean }) => (
  <span class="slot">{!synced && <WaitIcon />}</span>
)

export const NodeName = ({
  of,
  typed = '',
}: {
  readonly of: FleetNode
  readonly typed?: string
}) => (
  <span class="mono">
    <Hidden>{of.kind} </Hidden>
    <Marked words={nameOf(of)} typed={typed} />
  </span>
)

/** How many of a depot's resources are not in sync. */
export const unsyncedCount = ({ unsynced, items }: DepotNode): string =>
  `${unsynced.length} of ${items.length}`

export const depotNote = ({ storageBackend, pollingIntervalMinutes }: DepotNode): string =>
  [
    ...(storageBackend === undefined ? [] : [storageBackend]),
    pollingIntervalMinutes === 0 ? 'never polls' : `every ${pollingIntervalMinutes} min`,
  ].join(', ')
