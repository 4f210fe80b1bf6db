import type { Tool } from '../../../api/usage/usage.ts'
import { readChoice } from '../shell/choices.ts'
import { type ResourceValues, tools } from '../url/pages.ts'

export const toolsFor = (kind: string): readonly Tool[] =>
  kind === 'provider' ? tools.filter((it) => it !== 'terragrunt') : tools

/** The tool of the URL or the one chosen last, if it can use such a resource; otherwise Terraform. */
export function chosenTool(asked: ResourceValues['tool'], kind: string): Tool {
  const wanted = asked === '' ? readChoice('tool') : asked
  return toolsFor(kind).find((it) => it === wanted) ?? 'terraform'
}
