import { Bone } from '../parts/skeleton.tsx'
import { Cell, RowHead, Table } from '../parts/table.tsx'

const heads = ['Name', 'System', 'Latest', 'Status', 'Findings, latest version', 'Downloads']

export const TableSkeleton = () => (
  <Table
    label="Modules and providers, loading"
    look="stack flow"
    busy
    heads={[...heads.map((words) => ({ words })), { words: 'Visibility', class: 'mid-hide' }]}
  >
    {Array.from({ length: 20 }, (_, at) => (
      <tr key={at} role="row">
        <RowHead class="full">
          <Bone width={at % 3 === 0 ? 'w5' : 'w4'} />
        </RowHead>
        <Cell class="short">
          <Bone width="w2" />
        </Cell>
        <Cell class="short">
          <Bone width="w2" />
        </Cell>
        <Cell>
          <Bone width="w2" />
        </Cell>
        <Cell class="full">
          <Bone width="w3" />
        </Cell>
        <Cell class="num">
          <Bone width="w1" />
        </Cell>
        <Cell class="mid-hide">
          <Bone width="w2" />
        </Cell>
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
