import { Section } from '../../parts/section.tsx'
import { Cell, RowHead, Table } from '../../parts/table.tsx'
import type { TabProps } from '../section.ts'
import { hasFilter, listedBy, noneOf } from './inputs.ts'
import { Empty, Tools, useRows } from './section.tsx'

const heads = ['Type', 'Name', 'Use'].map((words) => ({ words }))
const uses = { managed: 'Makes', data: 'Reads', ephemeral: 'Opens while it runs' }

/** Resources and data sources, in the order of the files. */
export function Resources({ docs, values, change }: TabProps) {
  const { resources } = docs.root
  const listed = listedBy(resources, values.r_q, ({ type, name }) => [type, name])
  const { rows, more } = useRows(listed)
  return (
    <Section id="resources" words="Resources" count={listed.length}>
      {hasFilter(resources) && (
        <Tools
          filter={{ label: 'Filter resources', placeholder: 'Filter by type or name' }}
          value={values.r_q}
          onSearch={(it) => change({ r_q: it }, 'replace')}
        />
      )}
      {listed.length === 0 ? (
        <Empty>
          {resources.length === 0 ? noneOf('resources', docs) : 'No resources match the filter.'}
        </Empty>
      ) : (
        <Table label="Resources" look="stack docs" heads={heads}>
          {rows.map(({ mode, type, name }) => (
            <tr key={`${mode}.${type}.${name}`} role="row">
              <RowHead class="full">
                <code>
                  <b>{type}</b>
                </code>
              </RowHead>
              <Cell class="full" label="Name">
                <code>{name}</code>
              </Cell>
              <Cell class="full" label="Use">
                {uses[mode]}
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      {more}
    </Section>
  )
}
