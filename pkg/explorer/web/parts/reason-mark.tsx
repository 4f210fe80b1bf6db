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

/** The reason why a resource, or a version of it, is not served, with a link to the conflicts. Held versions are served. */
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
