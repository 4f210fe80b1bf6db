import { number } from '../../parts/format.ts'
import { Section } from '../../parts/section.tsx'
import { Cell, RowHead, Table } from '../../parts/table.tsx'
import { type FolderTab, resourceHref } from '../../url/pages.ts'
import type { TabProps } from '../section.ts'
import { folderName, placeOf, tabNames } from './inputs.ts'
import { Empty } from './section.tsx'

const heads = [
  { words: 'Path' },
  { words: 'What it does' },
  ...['Inputs', 'Outputs', 'Resources'].map((words) => ({ words, class: 'num' })),
]

export const Submodules = (props: TabProps) => <Folders {...props} tab="submodules" />
export const Examples = (props: TabProps) => <Folders {...props} tab="examples" />

/** The submodules or examples of a module, each with a link to its page. */
function Folders({ address, docs, values, tab }: TabProps & { readonly tab: FolderTab }) {
  const folders = docs[tab]
  return (
    <Section id={tab} words={tabNames[tab]} count={folders.length}>
      {folders.length === 0 ? (
        <Empty>No {tab}.</Empty>
      ) : (
        <Table label={tabNames[tab]} look="stack docs" heads={heads}>
          {folders.map((folder) => (
            <tr key={folder.path} role="row">
              <RowHead class="full">
                <a
                  class="v"
                  href={resourceHref(
                    { ...address, folder: { tab, name: folderName(folder) } },
                    { version: values.version },
                  )}
                >
                  <code>
                    <b>{folder.path}</b>
                  </code>
                </a>
              </RowHead>
              <Cell class="full">
                {folder.description}
                {folder.error !== undefined && (
                  <p class="quiet">
                    Incomplete: <code>{placeOf(folder.error) || folder.error.message}</code>
                  </p>
                )}
              </Cell>
              <Cell class="num" label="Inputs">
                {number(folder.inputs.length)}
              </Cell>
              <Cell class="num" label="Outputs">
                {number(folder.outputs.length)}
              </Cell>
              <Cell class="num" label="Resources">
                {number(folder.resources.length)}
              </Cell>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  )
}
