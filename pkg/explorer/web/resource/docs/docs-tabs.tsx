import { useLayoutEffect, useRef } from 'preact/hooks'
import type { VersionDocs } from '../../api/records.ts'
import type { Query } from '../../api/use-query.ts'
import { ErrorCard } from '../../parts/error-card.tsx'
import { number, sentence } from '../../parts/format.ts'
import { Note } from '../../parts/message.tsx'
import { Region } from '../../parts/region.tsx'
import {
  type DocsTab,
  factTabs,
  folderTabs,
  type ModuleTab,
  moduleTabs,
  resourceHref,
} from '../../url/pages.ts'
import { countOf } from '../findings/count.ts'
import type { SectionProps, TabProps } from '../section.ts'
import { UsedBy } from '../used-by/used-by.tsx'
import { Dependencies } from './dependencies.tsx'
import { Examples, Submodules } from './folders.tsx'
import { countsOf, placeOf, tabNames } from './inputs.ts'
import { Inputs } from './inputs-table.tsx'
import { Outputs } from './outputs.tsx'
import { Resources } from './resources.tsx'
import { readmeValues, shownTab } from './shown-tab.ts'

interface Props extends SectionProps {
  readonly query: Query<VersionDocs>
}

const views: Readonly<Record<DocsTab, (props: TabProps) => preact.JSX.Element>> = {
  inputs: Inputs,
  outputs: Outputs,
  resources: Resources,
  dependencies: Dependencies,
  submodules: Submodules,
  examples: Examples,
}

/** Tabs that are hidden if they are empty. */
const optionalTabs = ['resources', 'dependencies', ...folderTabs] as const

const viewOf = (tab: ModuleTab | '') =>
  Object.hasOwn(views, tab) ? views[tab as DocsTab] : undefined

/** Inputs and more of a module version, and who uses it: links to its tabs, and the one in the URL. */
export function DocsTabs(props: Props) {
  const { address, detail, docs, query, values } = props
  const { folder, ...module } = address
  const shown = folder?.tab ?? shownTab(detail, values)
  const counts = {
    ...(docs && countsOf(docs)),
    versions: detail.versions.length,
    findings: countOf(detail),
  }
  const View = folder === undefined ? viewOf(shown) : undefined
  const list = useRef<HTMLElement>(null)
  const isCounted = docs !== undefined
  useLayoutEffect(() => showCurrent(list.current), [shown, isCounted])
  const isListed = (tab: ModuleTab | ''): boolean =>
    tab === shown ||
    tab === '' ||
    factTabs.some((one) => one === tab) ||
    (detail.hasDocs === true && !optionalTabs.some((one) => one === tab && !counts[one]))
  return (
    <>
      <nav ref={list} class="tabs links" aria-label="Of this version">
        <ul>
          {(['', ...moduleTabs] as const).filter(isListed).map((tab) => (
            <li key={tab}>
              <a
                href={resourceHref(module, tab === '' ? readmeValues(values) : { ...values, tab })}
                aria-current={tab === shown ? 'page' : undefined}
              >
                {tab === '' ? 'README' : tabNames[tab]}
                {tab !== '' && tab !== 'used-by' && <Count count={counts[tab]} tab={tab} />}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {docs !== undefined && folder === undefined && <Problem docs={docs} />}
      {shown === 'used-by' && <UsedBy {...props} />}
      {View !== undefined &&
        (query.error?.status === 404 ? (
          <Missing query={query} />
        ) : (
          <Region query={query} what="The documentation" skeleton={8}>
            {(data) => <View {...props} docs={data} />}
          </Region>
        ))}
    </>
  )
}

/** Says why expected documentation is missing. */
export const Missing = ({ query: { error, refetch } }: Pick<Props, 'query'>) =>
  error?.status === 404 ? (
    <Note tone="warn" icon="warn" role="alert">
      {sentence(error.message)}
    </Note>
  ) : (
    error && <ErrorCard error={error} what="The documentation" refetch={refetch} />
  )

/** Scrolls only the row of tabs to the current one. */
function showCurrent(list: HTMLElement | null): void {
  const current = list?.querySelector('[aria-current]')
  if (list === null || current === null || current === undefined) return
  const [outer, inner] = [list.getBoundingClientRect(), current.getBoundingClientRect()]
  list.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2
}

/** The number on a tab: a dash while it is unknown, nothing for what was not scanned. */
const Count = ({ count, tab }: { readonly count: number | undefined; readonly tab: ModuleTab }) =>
  count === undefined && tab === 'findings' ? null : (
    <span class="quiet num">{count === undefined ? '–' : number(count)}</span>
  )

/** Says which file of the module is not valid. */
export function Problem({ docs }: { readonly docs: VersionDocs }) {
  const { error } = docs.root
  if (error === undefined) return <LeftOut docs={docs} />
  const place = placeOf(error)
  return (
    <Note tone="warn" icon="warn">
      {place !== '' && (
        <>
          <code>{place}</code>:{' '}
        </>
      )}
      {sentence(error.message)} The lists of {docs.version} may be incomplete. It can still be
      installed.
    </Note>
  )
}

const partNames: Readonly<Record<NonNullable<VersionDocs['leftOut']>[number], string>> = {
  exampleReadmes: 'READMEs of examples',
  submoduleReadmes: 'READMEs of submodules',
  defaults: 'defaults',
  readme: 'the README',
  descriptions: 'descriptions',
}

/** Says what is missing in the documentation of a large module. */
function LeftOut({ docs: { leftOut, version } }: { readonly docs: VersionDocs }) {
  if (leftOut === undefined) return null
  const parts = new Intl.ListFormat('en').format(leftOut.map((part) => partNames[part]))
  return (
    <Note icon="warn">
      The documentation of {version} is too large, so Depot left out {parts}.
    </Note>
  )
}
