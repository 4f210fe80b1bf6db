import { Bone } from '../parts/skeleton.tsx'
import { Cell, RowHead, Table } from '../parts/table.tsx'

const columns = [
  { words: 'Name', look: 'full', width: 'w4' },
  { words: 'System', look: 'short', width: 'w2' },
  { words: 'Latest', look: 'short', width: 'w2' },
  { words: 'Status', look: '', width: 'w2' },
  { words: 'Findings, latest version', look: 'full', width: 'w3' },
  { words: 'Downloads', look: 'num', width: 'w1' },
  { words: 'Visibility', class: 'mid-hide', look: 'mid-hide', width: 'w2' },
]

export const TableSkeleton = () => (
  <Table label="Modules and providers, loading" look="stack flow" busy heads={columns}>
    {Array.from({ length: 20 }, (_, at) => (
      <tr key={at} role="row">
        {columns.map(({ words, look, width }, column) => {
          const Part = column === 0 ? RowHead : Cell
          return (
            <Part key={words} class={look}>
              <Bone width={width} />
            </Part>
          )
        })}
      </tr>
    ))}
  </Table>
)

export const CardsSkeleton = () => (
  <ul class="cards" aria-label="Modules and providers, loading">
    {Array.from({ length: 12 }, (_, at) => (
      <li key={at} class="card">
        <span class="addr">
          <Bone width="w4" />
        </span>
        <span />
        <div class="facts">
          <Bone width="w3" />
        </div>
        <div class="facts">
          <Bone width="w3" />
        </div>
        <div class="bottom">
          <Bone width="w2" />
        </div>
      </li>
    ))}
  </ul>
)
