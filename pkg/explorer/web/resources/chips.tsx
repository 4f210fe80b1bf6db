import { Hidden, Icon } from '../parts/icon.tsx'
import { nameOptions } from '../parts/pick.tsx'
import { severityOptions } from '../parts/severity-counts.tsx'
import type { UrlChange } from '../url/navigate.ts'
import type { ResourcesValues } from '../url/pages.ts'

const noFilters = {
  q: '',
  namespace: [],
  kind: '',
  synced: '',
  severity: '',
  os: '',
  arch: '',
  public_only: '',
} as const satisfies Partial<ResourcesValues>

interface Props {
  readonly values: ResourcesValues
  readonly change: UrlChange<ResourcesValues>
}

/** Every active filter, each with a button that removes it. */
export function ActiveFilters({ values, change }: Props) {
  const active = activeFilters(values)
  if (active.length === 0) return <div class="gap" />
  return (
    <div class="chips" role="group" aria-label="Filters that are on">
      {active.map(({ key, label, words, without }) => (
        <span key={`${key}/${words}`} class="chip">
          <span class="quiet">{label}</span> <span class="words">{words}</span>
          <button type="button" onClick={() => change(without)}>
            <Icon name="close" />
            <Hidden>
              Remove filter {label.toLowerCase()} {words}
            </Hidden>
          </button>
        </span>
      ))}
      <button type="button" class="btn bare small" onClick={() => change(noFilters)}>
        Clear all
      </button>
    </div>
  )
}

/** A filter of the list that has one value. */
interface FilterChoice {
  readonly key: 'kind' | 'synced' | 'severity' | 'os' | 'arch'
  readonly label: string
  /** Value and words. The first means no filter. */
  readonly options: readonly (readonly [value: string, words: string])[]
}

export const kindChoice: FilterChoice = {
  key: 'kind',
  label: 'Kind',
  options: [
    ['', 'Any kind'],
    ['module', 'Modules'],
    ['provider', 'Providers'],
  ],
}

export const otherChoices: readonly FilterChoice[] = [
  {
    key: 'synced',
    label: 'Status',
    options: [
      ['', 'Any status'],
      ['true', 'Synced'],
      ['false', 'Not synced'],
    ],
  },
  { key: 'severity', label: 'Severity', options: severityOptions },
  {
    key: 'os',
    label: 'OS',
    options: nameOptions('Any OS', ['darwin', 'freebsd', 'linux', 'windows']),
  },
  {
    key: 'arch',
    label: 'Arch',
    options: nameOptions('Any arch', ['386', 'amd64', 'arm', 'arm64']),
  },
]

interface ActiveFilter {
  readonly key: keyof ResourcesValues
  readonly label: string
  readonly words: string
  /** The change that removes the filter. */
  readonly without: Partial<ResourcesValues>
}

export function activeFilters(values: ResourcesValues): ActiveFilter[] {
  const { q, namespace, public_only } = values
  const one = (key: keyof ResourcesValues, label: string, words: string): ActiveFilter[] =>
    words === '' ? [] : [{ key, label, words, without: { [key]: '' } }]
  return [
    ...one('q', 'Search', q),
    ...namespace.map((name) => ({
      key: 'namespace' as const,
      label: 'Namespace',
      words: name,
      without: { namespace: namespace.filter((it) => it !== name) },
    })),
    ...[kindChoice, ...otherChoices].flatMap(({ key, label, options }) => {
      const value = values[key]
      const words = options.find(([it]) => it === value)?.[1] ?? value
      return value === '' ? [] : one(key, label, words)
    }),
    ...one('public_only', 'Visibility', public_only === '' ? '' : 'Public only'),
  ]
}
