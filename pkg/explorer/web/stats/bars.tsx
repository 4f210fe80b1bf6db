import type { BrowseStats } from '../api/records.ts'

/* Bars are SVG with width attributes, because the policy of the page forbids inline styles. Text shows the numbers. */

const whole = 1000
const gap = 3

export function SyncBar({ sync }: { readonly sync: BrowseStats['syncHealth'] }) {
  const parts = [
    { count: sync.syncedVersions, tone: 'f-ok' },
    { count: sync.unsyncedVersions, tone: 'f-wait' },
    { count: sync.failedVersions, tone: 'f-fail' },
  ].filter(({ count }) => count > 0)
  const total = parts.reduce((sum, { count }) => sum + count, 0)
  const room = whole - gap * (parts.length - 1)
  let x = 0
  return (
    <svg class="bar" viewBox={`0 0 ${whole} 12`} preserveAspectRatio="none" aria-hidden="true">
      {total === 0 && <rect class="track" width={whole} height="12" />}
      {parts.map(({ count, tone }) => {
        const width = Math.max(4, (count / total) * room)
        const left = x
        x += width + gap
        return <rect key={tone} class={tone} x={left} width={width} height="12" />
      })}
    </svg>
  )
}
