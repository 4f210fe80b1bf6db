import { Void } from '../../parts/message.tsx'
import { Section } from '../../parts/section.tsx'
import { Cell, CodeCell, CodeOrNone, RowHead, Table } from '../../parts/table.tsx'
import { resourceHref } from '../../url/pages.ts'
import type { TabProps } from '../section.ts'
import { countsOf, localFolder, noneOf } from './inputs.ts'

/** Versions of the CLI, providers and modules that a module needs. */
export function Dependencies({ address, docs, values: { version } }: TabProps) {
  const { requiredVersion, providers, modules } = docs.root
  const count = countsOf(docs).dependencies
  return (
    <Section id="dependencies" words="Dependencies" count={count}>
      {requiredVersion !== undefined && (
        <p>
          Terraform or OpenTofu <code>{requiredVersion}</code>
        </p>
      )}
      {count === 0 && <Void words={noneOf('providers or modules', docs)} />}
      <Needs label="Providers" items={providers} />
      <Needs
        label="Modules"
        items={modules.map((item) => {
          const folder = localFolder(docs, item.source)
          const page = folder && { ...address, folder: folder === 'root' ? undefined : folder }
          return { ...item, href: page && resourceHref(page, { version }) }
        })}
      />
    </Section>
  )
}

interface Need {
  readonly name: string
  readonly source?: string | undefined
  readonly version?: string | undefined
  readonly aliases?: readonly string[]
  /** Page of a part of the same module. */
  readonly href?: string | undefined
}

function Needs({ label, items }: { readonly label: string; readonly items: readonly Need[] }) {
  if (items.length === 0) return null
  return (
    <>
      <h3 class="h3">{label}</h3>
      <Table label={label} look="stack docs" heads={['Name', 'Source', 'Version']}>
        {items.map(({ name, source, version, aliases = [], href }) => (
          <tr key={name} role="row">
            <RowHead class="full">
              <code>
                <b>{name}</b>
              </code>
              {aliases.map((alias) => (
                <span key={alias} class="tag mono">
                  {alias}
                </span>
              ))}
            </RowHead>
            <Cell class="full" label="Source">
              {href === undefined ? (
                <CodeOrNone text={source} />
              ) : (
                <a href={href}>
                  <code>{source}</code>
                </a>
              )}
            </Cell>
            <CodeCell class="full" label="Version" text={version} />
          </tr>
        ))}
      </Table>
    </>
  )
}
