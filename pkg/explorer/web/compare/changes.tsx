import type { InterfaceChange } from '../api/records.ts'
import { Hidden, Icon } from '../parts/icon.tsx'
import { Section } from '../parts/section.tsx'
import { Cell, None, RowHead, Table } from '../parts/table.tsx'
import { Type } from '../resource/docs/section.tsx'
import type { VersionRange } from '../url/pages.ts'
import { type ChangeGroup, kindWords } from './groups.ts'

/** A table with a group of changes. Changes that callers do not see are folded. */
export function Changes({
  group,
  range,
}: {
  readonly group: ChangeGroup
  readonly range: VersionRange
}) {
  const { id, words, about, changes } = group
  const heads = ['What', range.from, range.to, 'Why']
  const table = (
    <Table label={words} look={`stack diff${id === 'breaking' ? ' hard' : ''}`} heads={heads}>
      {changes.map((change, at) => (
        <Row key={at} change={change} range={range} />
      ))}
    </Table>
  )
  return (
    <Section id={id} words={words} total={changes.length} about={about}>
      {id === 'internal' ? (
        <details class="fold">
          <summary>
            <Icon name="right" />
            Resources and module calls
          </summary>
          {table}
        </details>
      ) : (
        table
      )}
    </Section>
  )
}

interface RowProps {
  readonly change: InterfaceChange
  readonly range: VersionRange
}

function Row({ change, range }: RowProps) {
  const { kind, path, name, before, after, why } = change
  const isProblem = before === undefined && after === undefined
  return (
    <tr role="row">
      <RowHead class="full">
        <span class="what">
          <span class="quiet kind">{kindWords[kind]}</span>
          <code>
            <b>{name || path}</b>
          </code>
          {path !== '' && name !== '' && (
            <span class="quiet kind">
              in <code>{path}</code>
            </span>
          )}
        </span>
      </RowHead>
      <Cell class="full" label={range.from}>
        {isProblem ? <None /> : <Text text={before} look="del" none="not there" />}
      </Cell>
      <Cell class="full" label={range.to}>
        {isProblem ? <None /> : <Text text={after} look="add" none="gone" />}
      </Cell>
      <Cell class="full reason">{why}</Cell>
    </tr>
  )
}

interface TextProps {
  readonly text: string | undefined
  readonly look: 'del' | 'add'
  readonly none: string
}

const isType = /^(?:(?:string|number|bool|any)$|(?:list|set|map|object|tuple)\()/

function Text({ text, look, none }: TextProps) {
  if (text === undefined) return <span class="quiet">{none}</span>
  return (
    <pre class={`d ${look}`}>
      <Hidden>{look === 'del' ? 'before: ' : 'after: '}</Hidden>
      {isType.test(text) ? <Type text={text} /> : text}
    </pre>
  )
}
