import type { DownloadHistory } from '../../api/records.ts'
import { useQuery } from '../../api/use-query.ts'
import { number, plural } from '../../parts/format.ts'
import { type PageAddress, resourceUrl } from '../../url/pages.ts'

const height = 64
const barWidth = 10
const gap = 2
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/** Downloads of the last 30 days, one bar for each day. Hidden if the server keeps no history. */
export function History({ address }: { readonly address: PageAddress }) {
  const { data, error } = useQuery<DownloadHistory>(`${resourceUrl(address)}/downloads`)
  if (data === undefined) return error === undefined ? <div class="history" /> : null
  if (data.total === 0 || data.counts.length === 0) return null
  const most = Math.max(1, ...data.counts)
  const start = Date.parse(data.from)
  const width = data.counts.length * barWidth
  const at = (step: number): string => day.format(start + step * data.stepSeconds * 1000)
  const words = `${plural(data.total, 'download')} from ${at(0)} to ${at(data.counts.length - 1)}, at most ${number(most)} a day`
  return (
    <figure class="history">
      <svg
        role="img"
        aria-label={words}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
      >
        {data.counts.map((count, step) => (
          <rect
            key={step}
            class={count === 0 ? 'track' : 'f'}
            x={step * barWidth}
            y={height - Math.max(1, (count / most) * height)}
            width={barWidth - gap}
            height={Math.max(1, (count / most) * height)}
          >
            <title>
              {at(step)}: {plural(count, 'download')}
            </title>
          </rect>
        ))}
      </svg>
      <figcaption class="quiet">
        <span>{at(0)}</span>
        <span>{number(data.total)} in 30 days</span>
        <span>{at(data.counts.length - 1)}</span>
      </figcaption>
    </figure>
  )
}
