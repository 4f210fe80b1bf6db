import { labelFor } from '../../../../api/usage/usage.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Cell, RowHead, Table } from '../../parts/table.tsx'
import type { TabProps } from '../section.ts'
import { usedOf } from '../used.ts'
import { Description, Empty, Marks, Name, Section } from './section.tsx'

const heads = ['Name', 'Description', 'Use it as'].map((words) => ({ words }))

export function Outputs({ address, docs, detail }: TabProps) {
  const { outputs } = docs.root
  const label = labelFor(usedOf(detail, address))
  return (
    <Section id="outputs" words="Outputs" count={outputs.length}>
      {outputs.length === 0 ? (
        <Empty>No outputs.</Empty>
      ) : (
        <Table label="Outputs" look="stack docs" heads={heads}>
          {outputs.map(({ name, description, sensitive, ephemeral, deprecated }) => (
            <tr key={name} role="row" id={`output-${name}`}>
              <RowHead class="full">
                <Name name={name} id={`output-${name}`} />
                <Marks
                  words={[
                    sensitive && 'Sensitive',
                    ephemeral && 'Ephemeral',
                    deprecated !== undefined && 'Deprecated',
                  ]}
                />
              </RowHead>
              <Cell class="full">
                <Description text={description} deprecated={deprecated} />
              </Cell>
              <Cell class="full" label="Use it as">
                <code>{`module.${label}.${name}`}</code>
                <CopyButton text={`module.${label}.${name}`} what={`module.${label}.${name}`} />
              </Cell>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  )
}
