import { Cell, CodeCell, RowHead } from '../../parts/table.tsx'
import type { TabProps } from '../section.ts'
import { listedBy } from './inputs.ts'
import { DocsList } from './section.tsx'

const uses = { managed: 'Makes', data: 'Reads', ephemeral: 'Opens while it runs' }

/** Resources and data sources, in the order of the files. */
export function Resources({ docs, values, change }: TabProps) {
  const { resources } = docs.root
  return (
    <DocsList
      id="resources"
      docs={docs}
      all={resources}
      listed={listedBy(resources, values.r_q, ({ type, name }) => [type, name])}
      by="type or name"
      filter={values.r_q}
      onFilter={(it) => change({ r_q: it }, 'replace')}
      heads={['Type', 'Name', 'Use']}
    >
      {(rows) =>
        rows.map(({ mode, type, name }) => (
          <tr key={`${mode}.${type}.${name}`} role="row">
            <RowHead class="full">
              <code>
                <b>{type}</b>
              </code>
            </RowHead>
            <CodeCell class="full" label="Name" text={name} />
            <Cell class="full" label="Use">
              {uses[mode]}
            </Cell>
          </tr>
        ))
      }
    </DocsList>
  )
}
