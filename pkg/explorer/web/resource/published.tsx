import type { ResourceDetail } from '../api/records.ts'
import { OutLink } from '../parts/out-link.tsx'
import { TimeAgo } from '../parts/time-ago.tsx'
import { safeHref } from './safe-href.ts'

/** The origin of the shown version, if it was published over HTTP. */
export function Published({ published }: Pick<ResourceDetail, 'published'>) {
  if (published === undefined) return null
  const { by, ref, commit, runUrl, at } = published
  const run = runUrl?.startsWith('https:') ? safeHref(runUrl) : undefined
  return (
    <span>
      <span title={commit && `Commit ${commit}`}>
        Published
        {by !== undefined && (
          <>
            {' by '}
            <span class="mono">{by}</span>
          </>
        )}
        {ref !== undefined && (
          <>
            {' at '}
            <span class="mono">{ref.replace(/^refs\/(?:tags|heads)\//, '')}</span>
          </>
        )}
        {', '}
        <TimeAgo at={at} />
      </span>
      {run !== undefined && <OutLink href={run}>Run {run.split('/').at(-1)}</OutLink>}
    </span>
  )
}
