import { Hidden, Icon } from '../parts/icon.tsx'
import type { UrlChange } from '../url/navigate.ts'
import type { ResourcesValues } from '../url/pages.ts'
import { activeFilters } from './choices.ts'

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
