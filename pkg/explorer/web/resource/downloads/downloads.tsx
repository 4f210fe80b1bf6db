import { useMemo } from 'preact/hooks'
import type {
  DownloadHistory,
  ResourceDetail,
  VersionItem,
  VersionPage,
} from '../../api/records.ts'
import { useQuery } from '../../api/use-query.ts'
import { number, plural } from '../../parts/format.ts'
import { Region } from '../../parts/region.tsx'
import { Section } from '../../parts/section.tsx'
import { ThinBar } from '../../parts/thin-bar.tsx'
import { type PageAddress, resourceHref, resourceUrl } from '../../url/pages.ts'
import { downloadsByVersion } from './by-version.ts'

interface Props {
  readonly address: PageAddress
  readonly detail: ResourceDetail
}

/** Downloads of each version, to show which are used. Hidden without downloads. */
export function DownloadsSection({ address, detail }: Props) {
  const wanted = detail.totalDownloads > 0
  const query = useQuery<VersionPage>(
    wanted ? `${resourceUrl(address)}/versions?page_size=100` : undefined,
  )
  if (!wanted) return null
  return (
    <Section
      id="downloads"
      words="Downloads"
      about={`${plural(detail.totalDownloads, 'download')} in all`}
    >
      <History address={address} />
      <Region query={query} what="The downloads" skeleton={5}>
        {(data) => <Chart rows={data.items} address={address} total={data.totalCount} />}
      </Region>
    </Section>
  )
}

interface ChartProps {
  readonly rows: readonly VersionItem[]
  readonly address: PageAddress
  /** Number of rows on all pages. */
  readonly total: number
}

function Chart({ rows, address, total }: ChartProps) {
  const bars = useMemo(() => downloadsByVersion(rows), [rows])
  const most = Math.max(1, ...bars.map(({ count }) => count))
  return (
    <>
      <dl class="rows downloads">
        {bars.map(({ version, count }) => (
          <div key={version}>
            <dt>
              <a
                href={resourceHref(address, { version })}
                data-keep={address.kind === 'provider' || undefined}
              >
                <code>{version}</code>
              </a>
            </dt>
            <dd>
              <ThinBar share={count / most} />
              <span class="num">{number(count)}</span>
            </dd>
          </div>
        ))}
      </dl>
      {total > rows.length && <p class="quiet">Of the newest {number(rows.length)} archives.</p>}
    </>
  )
}

const height = 64
const barWidth = 10
const gap = 2
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/** Downloads of the last 30 days, one bar for each day. Hidden if the server keeps no history. */
function History({ address }: { readonly address: PageAddress }) {
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
