import { useEffect, useState } from 'preact/hooks'
import { fullTime, timeAgo } from './format.ts'

const listeners = new Set<(now: number) => void>()
setInterval(() => {
  for (const listener of listeners) listener(Date.now())
}, 60_000)

/** Relative time with the full date in the title. It follows the clock without announcing it. */
export function TimeAgo({ at }: { readonly at: string | number | undefined }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    listeners.add(setNow)
    return () => void listeners.delete(setNow)
  }, [])
  if (at === undefined) return <span class="quiet">never</span>
  const moment = typeof at === 'number' ? at : Date.parse(at)
  if (!Number.isFinite(moment)) return <span class="quiet">unknown</span>
  return (
    <time dateTime={new Date(moment).toISOString()} title={fullTime(moment)}>
      {timeAgo(moment, now)}
    </time>
  )
}
