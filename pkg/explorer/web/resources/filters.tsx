import { useState } from 'preact/hooks'
import type { NamespaceList } from '../api/records.ts'
import { Icon } from '../parts/icon.tsx'
import { nameOptions, Pick } from '../parts/pick.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Dialog } from '../shell/dialog.tsx'
import { pastedSource } from '../shell/pasted.ts'
import type { UrlChange } from '../url/navigate.ts'
import type { ResourcesValues } from '../url/pages.ts'
import { activeFilters, kindChoice, otherChoices } from './chips.tsx'

interface Props {
  readonly values: ResourcesValues
  readonly namespaces: NamespaceList | undefined
  readonly change: UrlChange<ResourcesValues>
}

const sortOptions = [
  ['name', 'Sort: name'],
  ['namespace', 'Sort: namespace'],
  ['severity', 'Sort: severity'],
  ['totalDownloads', 'Sort: downloads'],
  ['lastDownloadedAt', 'Sort: last download'],
  ['latestVersion', 'Sort: latest version'],
  ['synced', 'Sort: status'],
] as const

/** The sort column; empty for relevance to the search. */
export const sortedBy = ({ sort_by, q }: ResourcesValues): ResourcesValues['sort_by'] =>
  sort_by === '' && q === '' ? 'name' : sort_by

/** Columns that sort with the most, the newest or the worst first. */
export const startsDescending = new Set<string>([
  'severity',
  'totalDownloads',
  'lastDownloadedAt',
  'latestVersion',
])

const another = '\u0000another'
const many = '\u0000many'

export function Filters({ values, namespaces, change }: Props) {
  const [naming, setNaming] = useState(false)
  const { namespace } = values
  const plus = (name: string): string[] => [...new Set([...namespace, name])]
  const choicePick = ({ key, label, options }: typeof kindChoice) => (
    <Pick
      key={key}
      label={label}
      value={values[key]}
      options={options}
      onChoose={(it) => change({ [key]: it })}
    />
  )
  const active = activeFilters(values).filter(({ key }) => key !== 'q').length
  return (
    <search class="filters" aria-label="Filter the registry">
      <SearchField
        label="Search names and docs"
        value={values.q}
        main
        onSearch={(q) => change({ q: pastedSource(q)?.address ?? q }, 'replace')}
      />
      <details class="more">
        <summary class="btn">
          <Icon name="filter" />
          {active === 0 ? 'Filters' : `Filters, ${active} active`}
        </summary>
        {choicePick(kindChoice)}
        <NamespacesPick
          chosen={namespace}
          names={namespaces?.items.map(({ name }) => name) ?? []}
          onAnother={() => setNaming(true)}
          onChoose={(name) =>
            change({ namespace: name === '' ? [] : namespace.length > 1 ? plus(name) : [name] })
          }
        />
        {otherChoices.map(choicePick)}
        <label class="check">
          <input
            type="checkbox"
            checked={values.public_only === 'true'}
            onChange={(event) => change({ public_only: event.currentTarget.checked ? 'true' : '' })}
          />
          Public only
        </label>
        <span class={values.view === 'table' ? 'only-stack' : 'sorting'}>
          <SortPick values={values} change={change} />
        </span>
      </details>
      {naming && (
        <NamespaceDialog
          onClose={() => setNaming(false)}
          onName={(name) => change({ namespace: plus(name) })}
        />
      )}
    </search>
  )
}

interface NamespacesProps {
  readonly chosen: readonly string[]
  readonly names: readonly string[]
  /** Called to type a name that is not listed. */
  readonly onAnother: () => void
  readonly onChoose: (name: string) => void
}

function NamespacesPick({ chosen, names, onAnother, onChoose }: NamespacesProps) {
  const isMany = chosen.length > 1
  return (
    <Pick
      label="Namespace"
      names
      value={isMany ? many : (chosen[0] ?? '')}
      options={[
        ...nameOptions('Any namespace', names),
        ...(isMany ? [[many, `${chosen.length} namespaces`] as const] : []),
        [another, 'Another…'],
      ]}
      onChoose={(name) => {
        if (name === another) onAnother()
        else if (name !== many) onChoose(name)
      }}
    />
  )
}

const SortPick = ({ values, change }: Omit<Props, 'namespaces'>) => (
  <Pick
    label="Sort by"
    value={sortedBy(values)}
    options={values.q === '' ? sortOptions : [['', 'Sort: best match'], ...sortOptions]}
    tinted={false}
    onChoose={(by) =>
      change({
        sort_by: by,
        sort_dir: startsDescending.has(by) ? 'desc' : 'asc',
      })
    }
  />
)

interface DialogProps {
  readonly onClose: () => void
  readonly onName: (name: string) => void
}

/** Private namespaces are not listed, so people type their names. */
function NamespaceDialog({ onClose, onName }: DialogProps) {
  const [name, setName] = useState('')
  return (
    <Dialog label="Another namespace" class="ask-name" onClose={onClose}>
      <form
        method="dialog"
        onSubmit={() => {
          if (name.trim() !== '') onName(name.trim())
        }}
      >
        <h2>Another namespace</h2>
        <p class="quiet">Only public namespaces are listed. Type the name of any other.</p>
        <label class="field">
          <span class="vh">Namespace</span>
          <input
            type="text"
            autofocus
            autoComplete="off"
            spellcheck={false}
            maxLength={63}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <div class="actions">
          <button type="submit" class="btn main">
            Filter
          </button>
          <button type="button" class="btn" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}
