/** Texts about the changes between two versions of a module: the command, the pages and statuses say the same. */

import type { InterfaceChange, ModuleComparison } from '../docs/docs.ts'

/**
 * The version that another one is compared with, unless a person names one: the previous release, or a prerelease if there
 * is no release before it.
 *
 * @param versions newest first
 */
export function previousVersion(versions: readonly string[], version: string): string | undefined {
  const earlier = versions.slice(versions.indexOf(version) + 1)
  return earlier.find((one) => !isPrerelease(one)) ?? earlier[0]
}

/** Build metadata, which begins with a plus, may have a hyphen, too. */
const isPrerelease = (version: string): boolean => /^[^+]*-/.test(version)

/** Heading of each verdict. */
const headings = { breaking: 'Breaking', unknown: 'Cannot be decided', compatible: 'Compatible' }

/** The changes by verdict, the worst first. */
export const changeGroups = (changes: readonly InterfaceChange[]) =>
  (['breaking', 'unknown', 'compatible'] as const).flatMap((verdict) => {
    const group = changes.filter((change) => change.verdict === verdict)
    return group.length > 0 ? [[headings[verdict], group] as const] : []
  })

const kindTexts: Partial<Record<InterfaceChange['kind'], string>> = {
  requiredVersion: '',
  state: '',
  resource: '',
  parser: 'file',
}

/** A change in one line, whatever line ends a name of the module has. */
export const changeText = (change: InterfaceChange): string =>
  oneLine(`${subjectOf(change)}: ${change.why}`)

/** `modules/a: input cidr` */
function subjectOf({ kind, name, path }: InterfaceChange): string {
  const subject = [kindTexts[kind] ?? kind, name].filter((part) => part !== '').join(' ')
  return path === '' ? subject : `${path}: ${subject}`
}

/**
 * A comparison as a comment on a pull request. Control characters are left out.
 *
 * @param note says more, such as whom the changes reach
 */
export function comparisonMarkdown(
  { changes, from, to, verdict }: ModuleComparison,
  note?: string,
): string {
  const blocks = changeGroups(changes).map(([heading, group]) => {
    const rows = group.map(
      (change) => `| ${markdownText(subjectOf(change))} | ${markdownText(change.why)} |`,
    )
    return `**${heading}**\n\n| | |\n| --- | --- |\n${rows.join('\n')}\n`
  })
  const title = `### ${markdownText(from)} to ${markdownText(to)}: ${verdict}\n`
  const notes = note === undefined ? [] : [`${markdownText(note)}\n`]
  const body = blocks.length > 0 ? blocks : ['No change of the interface.\n']
  return [title, ...body, ...notes].join('\n')
}

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')

/** Text of others without effect: a space of no width keeps a code host from naming people and issues in it. */
export const markdownText = (text: string): string =>
  oneLine(text)
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\|_*`[\]]/g, String.raw`\$&`)
    .replaceAll(/(?<!\w)@|#(?=\d)/g, '$&&#8203;')
