import type { ResourceDetail } from '../../api/records.ts'
import { factTabs, type ModuleTab, type ResourceValues, resourceParams } from '../../url/pages.ts'
import { print } from '../../url/search-params.ts'

/** The tab of the URL. A version without documentation has no tabs for it, and shows its README. */
export function shownTab(
  { hasDocs, kind }: Pick<ResourceDetail, 'hasDocs' | 'kind'>,
  values: ResourceValues,
): ModuleTab | '' {
  const tab = values.tab || filteredTab(values)
  return kind === 'module' && (hasDocs || isFact(tab)) ? tab : ''
}

/** The list that filters in a URL without a tab are for, because such links are older than the tabs. */
function filteredTab(values: ResourceValues): ModuleTab | '' {
  const keys = [...new URLSearchParams(print(resourceParams, values)).keys()]
  if (keys.some((key) => key.startsWith('v_'))) return 'versions'
  return keys.some((key) => key.startsWith('f_')) ? 'findings' : ''
}

/** The parameters of a link to the README, without the filters that would lead to a list. */
export const readmeValues = (values: ResourceValues): Partial<ResourceValues> => ({
  ...Object.fromEntries(Object.entries(values).filter(([key]) => !/^[vf]_/.test(key))),
  tab: '',
})

/** The tab with a section that was below the README in earlier releases. */
export const tabOfSection = (id: string): ModuleTab | '' =>
  id === 'findings' ? id : id === 'versions' || id === 'downloads' ? 'versions' : ''

const isFact = (tab: ModuleTab | ''): boolean => factTabs.some((one) => one === tab)
