import type { Tool, Used } from '../../../api/usage/usage.ts'
import { boot } from '../api/boot.ts'
import type { ResourceDetail } from '../api/records.ts'
import { readChoice } from '../shell/storage.ts'
import { type PageAddress, type ResourceValues, tools } from '../url/pages.ts'

export const toolsFor = (kind: string): readonly Tool[] =>
  kind === 'provider' ? tools.filter((it) => it !== 'terragrunt') : tools

/** The tool of the URL, otherwise the one chosen last, if it supports such a resource; otherwise Terraform. */
export function chosenTool(asked: ResourceValues['tool'], kind: string): Tool {
  const wanted = asked === '' ? readChoice('tool') : asked
  return toolsFor(kind).find((it) => it === wanted) ?? 'terraform'
}

/** Describes what the blocks of a page use. */
export function usedOf(detail: ResourceDetail, { folder }: PageAddress): Used {
  const parent = folder?.tab === 'submodules' ? 'modules' : 'examples'
  return {
    ...detail,
    registryHost: boot.registryHost,
    folder: folder && `${parent}/${folder.name}`,
  }
}
