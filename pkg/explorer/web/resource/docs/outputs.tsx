import { labelFor, outputsBlock } from '../../../../api/usage/usage.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Cell, RowHead } from '../../parts/table.tsx'
import type { TabProps } from '../section.ts'
import { usedOf } from '../tool.ts'
import { listedBy } from './inputs.ts'
import { Description, DocsList, Marks, Name } from './section.tsx'

const heads = ['Name', 'Description', 'Use it as']

export function Outputs({ address, docs, detail, values, change }: TabProps) {
  const { outputs } = docs.root
  const label = labelFor(usedOf(detail, address))
  const listed = listedBy(outputs, values.o_q, ({ name, description }) => [name, description])
  const copy = () => outputsBlock(label, outputs)
  return (
    <DocsList
      id="outputs"
      docs={docs}
      all={outputs}
      listed={listed}
      by="name or description"
      filter={values.o_q}
      onFilter={(it) => change({ o_q: it }, 'replace')}
      copies={<CopyButton text={copy} what="all outputs as HCL" look="words" />}
      heads={heads}
    >
      {(rows) =>
        rows.map(({ name, description, sensitive, ephemeral, deprecated }) => (
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
        ))
      }
    </DocsList>
  )
}
