import { Hidden, Icon } from '../parts/icon.tsx'
import { severityOptions } from '../parts/severity-options.ts'
import type { ResourcesValues } from '../url/pages.ts'
import type { Change } from './filters.tsx'

interface Active {
  readonly key: keyof ResourcesValues
  readonly label: string
  readonly words: string
  /** What removes it. */
  readonly without: Partial<ResourcesValues>
}

/** The filters that are on, one by one. */
export function activeFilters(values: ResourcesValues): Active[] {
  const { q, namespace, kind, synced, severity, os, arch, public_only } = values
  const all: (Active | false)[] = [
    q !== '' && { key: 'q', label: 'Name', words: q, without: { q: '' } },
    ...namespace.map((name) => ({
      key: 'namespace' as const,
      label: 'Namespace',
      words: name,
      without: { namespace: namespace.filter((it) => it !== name) },
    })),
    kind !== '' && {
      key: 'kind',
      label: 'Kind',
      words: kind === 'module' ? 'Modules' : 'Providers',
      without: { kind: '' },
    },
    synced !== '' && {
      key: 'synced',
      label: 'Status',
      words: synced === 'true' ? 'Synced' : 'Not synced',
      without: { synced: '' },
    },
    severity !== '' && {
      key: 'severity',
      label: 'Severity',
      words: severityOptions.find(([it]) => it === severity)?.[1] ?? severity,
      without: { severity: '' },
    },
    os !== '' && { key: 'os', label: 'OS', words: os, without: { os: '' } },
    arch !== '' && { key: 'arch', label: 'Arch', words: arch, without: { arch: '' } },
    public_only !== '' && {
      key: 'public_only',
      label: 'Visibility',
      words: 'Public only',
      without: { public_only: '' },
    },
  ]
  return all.filter((it) => it !== false)
}

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
  readonly change: Change
}

/** Every filter that is on, each with a button that removes it. */
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
