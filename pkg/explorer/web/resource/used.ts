import type { Used } from '../../../api/usage/usage.ts'
import { boot } from '../api/boot.ts'
import type { ResourceDetail } from '../api/records.ts'
import type { PageAddress } from '../url/pages.ts'

/** Describes what the blocks of a page use. */
export function usedOf(detail: ResourceDetail, { folder }: PageAddress): Used {
  const parent = folder?.tab === 'submodules' ? 'modules' : 'examples'
  return {
    ...detail,
    registryHost: boot.registryHost,
    folder: folder && `${parent}/${folder.name}`,
  }
}
