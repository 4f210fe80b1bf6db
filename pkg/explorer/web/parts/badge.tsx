import { Icon } from './icon.tsx'

/** Whether a resource, or a version of it, is in sync. Only versions can have failed. */
export function SyncChip({ synced, failed = false }: { synced: boolean; failed?: boolean }) {
  if (synced) return <Status tone="ok" icon="check" words="Synced" />
  return failed ? (
    <Status tone="fail" icon="fail" words="Failed" />
  ) : (
    <Status tone="idle" icon="wait" words="Not synced" />
  )
}

export const Visibility = ({ isPublic }: { readonly isPublic: boolean }) => (
  <Status tone="quiet" icon={isPublic ? 'globe' : 'lock'} words={isPublic ? 'Public' : 'Private'} />
)

export function Status({ tone, icon, words }: { tone: string; icon: string; words: string }) {
  return (
    <span class={`st ${tone}`}>
      <Icon name={icon} />
      {words}
    </span>
  )
}
