import { useMemo } from 'preact/hooks'
import type { ResourceDetail, VersionItem, VersionPage } from '../../api/records.ts'
import { useQuery } from '../../api/use-query.ts'
import { number, plural } from '../../parts/format.ts'
import { Region } from '../../parts/region.tsx'
import { Section } from '../../parts/section.tsx'
import { Lines } from '../../parts/skeleton.tsx'
import { ThinBar } from '../../parts/thin-bar.tsx'
import { type PageAddress, resourceHref, resourceUrl } from '../../url/pages.ts'
import { downloadsByVersion } from './by-version.ts'
import { History } from './history.tsx'

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
      <Region query={query} what="The downloads" skeleton={<Lines count={5} />}>
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
