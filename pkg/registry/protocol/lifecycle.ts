import { type Lifecycle, lifecycleWords } from '../../api/lifecycle/lifecycle.ts'
import type { Deprecation } from '../../api/registry/registry.ts'
import { printable } from '../../base/errors/errors.ts'
import type { VersionRow } from '../catalog/catalog.ts'

/** CLIs print each line on a screen. */
const maxBytes = 400
const maxWarnings = 5

/** Why people should take another version of a module; undefined for an active one. */
export function deprecationOf(lifecycle: Lifecycle | undefined): Deprecation | undefined {
  if (lifecycle === undefined) return undefined
  const { state, link } = lifecycle
  const words = lifecycleWords({ ...lifecycle, link: undefined })
  return {
    reason: printable(words === '' ? `it is ${state.toLowerCase()}` : words, maxBytes),
    link,
  }
}

/** The beginning of a line about those that have none. */
export const moreVersions = (count: number): string =>
  count === 1 ? '1 more version is' : `${count} more versions are`

/** A line for each listed version that people should not take, newest first, then the number of further ones. */
export function warningsOf(listed: readonly VersionRow[]): string[] | undefined {
  const noted = new Map<string, Lifecycle>()
  for (const { version, lifecycle } of listed) {
    if (lifecycle !== undefined && !noted.has(version)) noted.set(version, lifecycle)
  }
  if (noted.size === 0) return undefined
  const lines = [...noted].slice(0, maxWarnings).map(([version, lifecycle]) => {
    const words = lifecycleWords(lifecycle)
    const text = `version ${version} is ${lifecycle.state.toLowerCase()}${words && `: ${words}`}`
    return printable(text, maxBytes)
  })
  const more = noted.size - lines.length
  return more === 0 ? lines : [...lines, `${moreVersions(more)} deprecated or yanked`]
}
