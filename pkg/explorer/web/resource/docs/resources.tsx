import { Cell, RowHead, Table } from '../../parts/table.tsx'
import type { TabProps } from '../section.ts'
import { Empty, Section } from './section.tsx'

const heads = ['Type', 'Name', 'Use'].map((words) => ({ words }))
const uses = { managed: 'Makes', data: 'Reads', ephemeral: 'Opens while it runs' }

/** Resources and data sources, in the order of the files. */
export function Resources({ docs }: TabProps) {
  const { resources } = docs.root
  return (
    <Section id="resources" words="Resources" count={resources.length}>
      {resources.length === 0 ? (
        <Empty>No resources.</Empty>
      ) : (
        <Table label="Resources" look="stack docs" heads={heads}>
          {resources.map(({ mode, type, name }) => (
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
    </Section>
  )
}
