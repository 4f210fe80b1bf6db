import type { VersionDocs } from '../../api/records.ts'
import type { Query } from '../../api/use-query.ts'
import { Void } from '../../parts/message.tsx'
import { Region } from '../../parts/region.tsx'
import { type Folder, resourceHref } from '../../url/pages.ts'
import { Contents } from '../aside.tsx'
import { Readme, type ReadmeHeading } from '../readme/readme.tsx'
import type { SectionProps } from '../section.ts'
import { Usage } from '../usage.tsx'
import { Dependencies } from './dependencies.tsx'
import { Problem } from './docs-tabs.tsx'
import { docsOfFolder, tabNames } from './inputs.ts'
import { Inputs } from './inputs-table.tsx'
import { Outputs } from './outputs.tsx'
import { Resources } from './resources.tsx'

interface Props extends SectionProps {
  readonly folder: Folder
  readonly query: Query<VersionDocs>
  readonly headings: readonly ReadmeHeading[]
  readonly onHeadings: (headings: readonly ReadmeHeading[]) => void
}

/** A submodule or example: how to use it, its README, and its lists. */
export function FolderPart(props: Props) {
  const { folder, query, detail } = props
  if (!detail.hasDocs) return <Missing {...props} />
  return (
    <Region query={query} what="The documentation" skeleton={12}>
      {(data) => {
        const docs = docsOfFolder(data, folder)
        return docs === undefined ? <Missing {...props} /> : <Content {...props} docs={docs} />
      }}
    </Region>
  )
}

function Content(props: Props & { readonly docs: VersionDocs }) {
  const { address, detail, folder, docs, values, version, onHeadings } = props
  const { path, description, readme } = docs.root
  return (
    <>
      <nav class="crumb" aria-label="Folder">
        <a href={listHref(address, folder, values.version)}>{tabNames[folder.tab]}</a>
        <span aria-hidden="true">/</span>
        <span>{folder.name}</span>
      </nav>
      <h2 class="mono folder">{path}</h2>
      {description !== undefined && <p class="quiet">{description}</p>}
      <Problem docs={docs} />
      <div class="beside">
        <Usage {...props} />
        <div class="wide">
          {readme !== undefined && (
            <Readme
              content={readme}
              filesUrl={detail.filesUrl && `${detail.filesUrl}${path}/`}
              version={version.shown}
              onHeadings={onHeadings}
            />
          )}
          <Inputs {...props} />
          <Outputs {...props} />
          <Resources {...props} />
          <Dependencies {...props} />
        </div>
        <Contents {...props} />
      </div>
    </>
  )
}

function Missing({ address, folder, values, version, detail }: Props) {
  const shown = version.shown ?? detail.name
  const kind = folder.tab === 'submodules' ? 'submodule' : 'example'
  return (
    <Void words={`${shown} has no ${kind} ${folder.name}.`} isPage>
      <p>
        <a href={listHref(address, folder, values.version)}>
          All {folder.tab} of {shown}
        </a>
      </p>
    </Void>
  )
}

const listHref = (address: SectionProps['address'], { tab }: Folder, version: string): string =>
  resourceHref({ ...address, folder: undefined }, { version, tab })
