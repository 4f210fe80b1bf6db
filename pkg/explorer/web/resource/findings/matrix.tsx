import type { Finding } from '../../api/records.ts'
import { number } from '../../parts/format.ts'
import { ranks } from '../../parts/severity-counts.tsx'
import { Cell, NumberCell, RowHead, Table } from '../../parts/table.tsx'
import { countsOf } from './count.ts'

interface Props {
  readonly scans: readonly (readonly [name: string, findings: readonly Finding[]])[]
  readonly chosen: string
  readonly hrefOf: (name: string) => string
}

/** Number of findings by platform and severity. The head of a row chooses the list below. */
export const Matrix = ({ scans, chosen, hrefOf }: Props) => (
  <Table
    label="Findings by platform"
    look="stack flow"
    heads={[
      'Platform',
      ...ranks.map(({ word }) => ({ words: word, class: 'num' })),
      { words: 'All', class: 'num' },
    ]}
  >
    {scans.map(([name, findings]) => {
      const counts = countsOf(findings)
      return (
        <tr key={name} role="row" class={name === chosen ? 'on' : undefined}>
          <RowHead class="full">
            <a href={hrefOf(name)} aria-current={name === chosen ? 'true' : undefined} data-keep>
              <code>{name}</code>
            </a>
          </RowHead>
          {ranks.map(({ key, word, tone }) => (
            <Cell key={key} label={word} class="num">
              <span class="sev">
                <span class={counts[key] === 0 ? 'nil zero' : tone}>{number(counts[key])}</span>
              </span>
            </Cell>
          ))}
          <NumberCell label="All" value={findings.length} />
        </tr>
      )
    })}
  </Table>
)
