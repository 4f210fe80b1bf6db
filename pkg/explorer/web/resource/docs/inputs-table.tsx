import { Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { argumentsBlock, valueText } from '../../../../api/usage/usage.ts'
import type { ModuleInput } from '../../api/records.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { number } from '../../parts/format.ts'
import { hclTokens } from '../../parts/hcl.ts'
import { Icon } from '../../parts/icon.tsx'
import { Pick } from '../../parts/pick.tsx'
import { Cell, RowHead } from '../../parts/table.tsx'
import type { TabProps } from '../section.ts'
import { groupsOf, inputGroups, listedInputs, requiredOf, settableInputs } from './inputs.ts'
import { Description, DocsList, Marks, Name, Type, WithCode } from './section.tsx'

const heads = ['Name', 'Type', 'Default', 'Description']

export function Inputs({ docs, values, change }: TabProps) {
  const { inputs } = docs.root
  const listed = listedInputs(inputs, values)
  const hash = useHash()
  const counts = new Map(groupsOf(listed).map(([words, group]) => [words, group.length]))
  return (
    <DocsList
      id="inputs"
      docs={docs}
      all={inputs}
      listed={listed}
      by="name, type or description"
      filter={values.i_q}
      onFilter={(it) => change({ i_q: it }, 'replace')}
      pick={
        <Pick
          label="Which inputs"
          value={values.i_group}
          options={inputGroups(inputs)}
          onChoose={(it) => change({ i_group: it }, 'replace')}
        />
      }
      copies={<Copies inputs={inputs} required={requiredOf(docs)} />}
      look="inputs"
      heads={heads}
      isTarget={({ name }) => isTargetOf(hash, name)}
    >
      {(rows) =>
        groupsOf(rows).map(([words, group]) => (
          <Fragment key={words}>
            <tr role="row" class="grp">
              <th role="rowheader" scope="rowgroup" colSpan={heads.length}>
                {words} <span class="quiet num">{number(counts.get(words) ?? 0)}</span>
              </th>
            </tr>
            {group.map((input) => (
              <Row key={input.name} input={input} hash={hash} />
            ))}
          </Fragment>
        ))
      }
    </DocsList>
  )
}

interface CopiesProps {
  readonly inputs: readonly ModuleInput[]
  readonly required: readonly ModuleInput[]
}

const Copies = ({ inputs, required }: CopiesProps) => (
  <>
    {required.length > 0 && (
      <CopyButton
        text={() => argumentsBlock(required)}
        what="required inputs as HCL"
        look="words"
      />
    )}
    <CopyButton
      text={() => argumentsBlock(settableInputs(inputs))}
      what="all inputs as HCL"
      look="words"
    />
  </>
)

const isTargetOf = (hash: string, name: string): boolean =>
  hash === `#${encodeURIComponent(`input-${name}`)}`

function Row({ input, hash }: { readonly input: ModuleInput; readonly hash: string }) {
  const { name, type, required, sensitive, ephemeral, nullable, deprecated } = input
  const id = `input-${name}`
  return (
    <tr role="row" id={id} class={isTargetOf(hash, name) ? 'on' : undefined}>
      <RowHead class="full">
        <Name name={name} id={id} />
        <Marks
          words={[
            sensitive && 'Sensitive',
            ephemeral && 'Ephemeral',
            !nullable && 'Not null',
            deprecated !== undefined && 'Deprecated',
          ]}
        />
      </RowHead>
      <Cell class="full" label="Type">
        {type === undefined ? (
          <span class="quiet">any</span>
        ) : (
          <code class="lines">
            <Type text={type} />
          </code>
        )}
      </Cell>
      <Cell class="full" label="Default">
        {required || input.default === undefined ? (
          <span class="quiet">{required ? 'none' : 'left out'}</span>
        ) : (
          <code class="lines">
            <Value text={valueText(input.default)} />
          </code>
        )}
      </Cell>
      <Cell class="full">
        <Description text={input.description} deprecated={deprecated} />
        {input.validations.map(({ message }) => (
          <p key={message} class="must">
            <Icon name="check" />
            <span class="lines">
              <WithCode text={message} />
            </span>
          </p>
        ))}
      </Cell>
    </tr>
  )
}

/** Longer values are not coloured, because every token is an element. */
const longestColoured = 2000

/** A value; strings are coloured. */
const Value = ({ text }: { readonly text: string }) => (
  <>
    {(text.length > longestColoured ? [{ kind: 'plain', text }] : hclTokens(text)).map(
      ({ kind, text: part }, at) =>
        kind === 'string' ? (
          <span key={at} class="q">
            {part}
          </span>
        ) : (
          part
        ),
    )}
  </>
)

/** The fragment of the URL, because browsers do not mark rows as its target that are rendered later. */
function useHash(): string {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const read = (): void => setHash(location.hash)
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return hash
}
