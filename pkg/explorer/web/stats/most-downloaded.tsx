import type { BrowseStats } from '../api/records.ts'
import { AddressLink } from '../parts/address.tsx'
import { number } from '../parts/format.ts'
import { Hidden } from '../parts/icon.tsx'
import { Void } from '../parts/message.tsx'
import { Section } from '../parts/section.tsx'
import { Cell, CodeCell, RowHead, Table } from '../parts/table.tsx'
import { ThinBar } from '../parts/thin-bar.tsx'
import { TimeAgo } from '../parts/time-ago.tsx'
import { resourceHref } from '../url/pages.ts'

type Rows = BrowseStats['mostDownloaded']

export function MostDownloaded({ rows }: { readonly rows: Rows }) {
  const most = Math.max(1, ...rows.map(({ downloadCount }) => downloadCount))
  return (
    <Section id="top" words="Most downloaded" about="top 10 versions">
      {rows.length === 0 ? (
        <Void words="No downloads yet.">
          <p>They are counted when Terraform or OpenTofu installs from this registry.</p>
        </Void>
      ) : (
        <Table
          label="Most downloaded"
          look="stack flow"
          heads={[
            { words: '#', class: 'num only-wide' },
            'Name',
            'Version',
            { words: 'Downloads', class: 'num' },
            { words: <Hidden>Share of the first</Hidden>, class: 'only-wide' },
            'Last download',
          ]}
        >
          {rows.map((row, at) => (
            <tr key={`${row.namespace}/${row.kind}/${row.name}/${row.version}`} role="row">
              <Cell class="num quiet only-wide">{at + 1}</Cell>
              <RowHead class="full">
                <AddressLink of={row} version={row.version} />
              </RowHead>
              <CodeCell label="Version" class="short" text={row.version} />
              <Cell label="Downloads" class="num">
                <a
                  href={`${resourceHref(row, { version: row.version, tab: row.kind === 'module' ? 'versions' : '' })}#downloads`}
                >
                  {number(row.downloadCount)}
                </a>
              </Cell>
              <Cell class="barcell only-wide">
                <ThinBar share={row.downloadCount / most} />
              </Cell>
              <Cell label="Last" class="nowrap">
                <TimeAgo at={row.lastDownloadedAt} />
              </Cell>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  )
}
