import { Hidden, Icon } from '../parts/icon.tsx'
import { Marked } from '../parts/marked.tsx'
import { type DepotNode, type FleetNode, nameOf } from './fleet.ts'

/** The URL of this page with a node chosen. */
export type HrefOf = (node: FleetNode) => string

export const WaitIcon = () => (
  <>
    <Icon name="wait" tone="c-warn" />
    <Hidden>not synced</Hidden>
  </>
)

/** Has the same width without an icon, so that versions are aligned. */
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
