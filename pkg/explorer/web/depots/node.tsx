import { Hidden, Icon } from '../parts/icon.tsx'
import { Marked } from '../parts/marked.tsx'
import { type DepotNode, type FleetNode, nameOf } from './fleet.ts'

/** The chosen node, and URLs that choose another one. */
export interface Choosing {
  readonly chosen: FleetNode | undefined
  readonly hrefOf: (node: FleetNode) => string
}

interface LinkProps extends Choosing {
  readonly to: FleetNode
  readonly class?: string
  readonly children: preact.ComponentChildren
}

/** A link that chooses a node. */
export const NodeLink = ({ to, chosen, hrefOf, class: name, children }: LinkProps) => (
  <a
    class={name}
    href={hrefOf(to)}
    data-node={to.id}
    aria-current={to === chosen ? 'true' : undefined}
  >
    {children}
  </a>
)

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
