import type { ResourceReason } from '../api/records.ts'
import { conflictsHref, heldBackHref, type PageAddress } from '../url/pages.ts'
import { reasonWords } from './reasons.ts'

interface Props {
  readonly reason: ResourceReason | undefined
  readonly of: PageAddress
}

/** State of a version, in a word. */
export const StateMark = ({ state }: { readonly state: string }) => (
  <span class={state === 'Deprecated' ? 'tag mark warn' : 'tag mark'}>{state}</span>
)

/** Why a resource, or a version of it, is not served; it leads to the page of conflicts. What is held is served. */
export const ReasonMark = ({ reason, of: { namespace, name } }: Props) =>
  reason === undefined ? null : reason === 'RemovalHeld' ? (
    <span class="tag mark">Removal held</span>
  ) : reason === 'HeldBack' ? (
    <a class="tag mark" href={heldBackHref({ q: `${namespace}/${name}` })}>
      Held back
    </a>
  ) : (
    <a class="tag mark" href={conflictsHref({ q: `${namespace}/${name}`, reason })}>
      {reasonWords[reason].words}
    </a>
  )
