import { Void } from '../../parts/message.tsx'
import { Section } from '../../parts/section.tsx'
import { Cell, NumberCell, RowHead, Table } from '../../parts/table.tsx'
import { type FolderTab, resourceHref } from '../../url/pages.ts'
import type { TabProps } from '../section.ts'
import { folderName, placeOf, tabNames } from './inputs.ts'

const heads = [
  'Path',
  'What it does',
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
        <Void words={`No ${tab}.`} />
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
              <NumberCell label="Inputs" value={folder.inputs.length} />
              <NumberCell label="Outputs" value={folder.outputs.length} />
              <NumberCell label="Resources" value={folder.resources.length} />
            </tr>
          ))}
        </Table>
      )}
    </Section>
  )
}
