import { labelFor, outputsBlock } from '../../../../api/usage/usage.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Section } from '../../parts/section.tsx'
import { Cell, RowHead, Table } from '../../parts/table.tsx'
import type { TabProps } from '../section.ts'
import { usedOf } from '../used.ts'
import { hasFilter, listedBy, noneOf } from './inputs.ts'
import { Description, Empty, Marks, Name, Tools, useRows } from './section.tsx'

const heads = ['Name', 'Description', 'Use it as'].map((words) => ({ words }))

export function Outputs({ address, docs, detail, values, change }: TabProps) {
  const { outputs } = docs.root
  const label = labelFor(usedOf(detail, address))
  const listed = listedBy(outputs, values.o_q, ({ name, description }) => [name, description])
  const { rows, more } = useRows(listed)
  return (
    <Section id="outputs" words="Outputs" count={listed.length}>
      {outputs.length > 0 && (
        <Tools
          filter={
            hasFilter(outputs)
              ? { label: 'Filter outputs', placeholder: 'Filter by name or description' }
              : undefined
          }
          value={values.o_q}
          onSearch={(it) => change({ o_q: it }, 'replace')}
        >
          <CopyButton
            text={() => outputsBlock(label, outputs)}
            what="all outputs as HCL"
            look="words"
          />
        </Tools>
      )}
      {listed.length === 0 ? (
        <Empty>
          {outputs.length === 0 ? noneOf('outputs', docs) : 'No outputs match the filter.'}
        </Empty>
      ) : (
        <Table label="Outputs" look="stack docs" heads={heads}>
          {rows.map(({ name, description, sensitive, ephemeral, deprecated }) => (
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
                {description === undefined && deprecated === undefined && (
                  <span class="quiet">No description</span>
                )}
              </Cell>
              <Cell class="full" label="Use it as">
                <code>{`module.${label}.${name}`}</code>
                <CopyButton text={`module.${label}.${name}`} what={`module.${label}.${name}`} />
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      {more}
    </Section>
  )
}
