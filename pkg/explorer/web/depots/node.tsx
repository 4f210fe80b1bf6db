import { number } from '../parts/format.ts'
import { Hidden, Icon } from '../parts/icon.tsx'
import { Marked } from '../parts/marked.tsx'
import { type DepotNode, type DepotState, type FleetNode, nameOf } from './fleet.ts'

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

interface StateLook {
  readonly icon: string
  readonly tone: string
  readonly words: string
}

/** How to draw each state of a depot. */
export const stateLooks: Readonly<Record<DepotState, StateLook>> = {
  healthy: { icon: 'check', tone: 'c-ok', words: 'healthy' },
  unsynced: { icon: 'wait', tone: 'c-warn', words: 'not in sync' },
  failing: { icon: 'fail', tone: 'c-fail', words: 'failing' },
  held: { icon: 'hold', tone: 'c-warn', words: 'removal held' },
}

/** The state of a depot that needs attention. */
export function TroubleIcon({ of: { state } }: { readonly of: DepotNode }) {
  const { icon, tone, words } = stateLooks[state]
  return state === 'healthy' ? null : (
    <>
      <Icon name={icon} tone={tone} />
      <Hidden>{words}</Hidden>
    </>
  )
}

const failures: Readonly<Record<string, string>> = {
  PartiallySynced: 'Some of its modules and providers failed',
  SyncFailed: 'All of its modules and providers failed',
  InvalidSpec: 'Its spec has a mistake',
}

/** The reason why a depot needs attention; empty for a healthy one. */
export function causeOf({ state, reason, held, unsynced }: DepotNode): string {
  if (state === 'failing') {
    return failures[reason ?? ''] ?? (reason === undefined ? 'Failing' : `Failing: ${reason}`)
  }
  if (state === 'held') {
    return `Versions stay until somebody confirms their removal: ${namesOf(held)}`
  }
  return state === 'unsynced' ? `Not in sync: ${namesOf(unsynced)}` : ''
}

function namesOf(nodes: readonly FleetNode[]): string {
  const names = nodes.slice(0, 2).map(({ name }) => name)
  const more = nodes.length - names.length
  return `${names.join(', ')}${more > 0 ? ` and ${number(more)} more` : ''}`
}

const WaitIcon = () => (
  <>
    <Icon name="wait" tone="c-warn" />
    <Hidden>not synced</Hidden>
  </>
)

/** Has the same width without an icon, so that versions are aligned. */
export const SyncSlot = ({ synced }: { readonly synced: boolean }) => (
  <span class="slot">{!synced && <WaitIcon />}</span>
)

export const NodeName = ({ of, typed = '' }: { of: FleetNode; typed?: string }) => (
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
