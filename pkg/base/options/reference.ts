import { type Option, placeholderOf, type Tables } from './table.ts'

/** Output of `--help`: the usage and every option, in columns. */
export function usageOf(tables: Tables): string {
  const { program, summary, operands, examples, secrets = {}, variables = {} } = tables
  const secretRows = Object.values(secrets).map(({ variable, meaning }) => [variable, meaning])
  const lines = [
    summary,
    '',
    `Usage: ${[program, '[flags]', operands].filter(Boolean).join(' ')}`,
    '',
    'Examples:',
    '',
    ...examples.map((example) => `  ${example}`),
    '',
    ...flagLines(tables),
    '',
    'Each flag has an environment variable: DEPOT_ and its name in capitals, such as DEPOT_LOG_LEVEL.',
    'The flag takes precedence.',
    '',
    ...paragraph(
      'Secrets, from the environment variable, or from the file that the variable with the suffix _FILE names:',
      secretRows,
    ),
    ...paragraph('Environment variables without a flag:', Object.entries(variables)),
  ]
  return lines.join('\n').replaceAll('`', '')
}

/** Every flag in columns, below the headings of the groups. */
function flagLines({ options, groups = {} }: Tables): string[] {
  const rows = Object.values(options).map((option) => [
    flagOf(option),
    `${option.meaning} ${defaultOf(option)}`,
  ])
  rows.push(['-h, --help', 'Print this text.'], ['-v, --version', 'Print the version.'])
  const headings = new Map(Object.keys(options).map((key, index) => [index, groups[key]]))
  return columns(rows, (index) => {
    const heading = index === 0 ? (headings.get(0) ?? 'Flags') : headings.get(index)
    return heading === undefined ? [] : [...(index === 0 ? [] : ['']), `${heading}:`, '']
  })
}

/** Names of a flag, and the placeholder of its value. */
export function flagOf(option: Option): string {
  const placeholder = placeholderOf(option)
  const names = `${option.short ? `-${option.short}, ` : ''}--${option.flag}`
  return placeholder === undefined ? names : `${names} ${placeholder}`
}

function defaultOf(option: Option): string {
  if (placeholderOf(option) === undefined) return ''
  const platform =
    option.platformVariable === undefined ? '' : `$${option.platformVariable}, otherwise `
  return `[${platform}${option.default ?? option.otherwise ?? 'none'}]`
}

/** A sentence and its rows; nothing without rows. */
function paragraph(sentence: string, rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : [sentence, '', ...columns(rows), '']
}

/**
 * Two columns, the right one wrapped so that lines stay below 110 characters.
 *
 * @param above lines above the row of an index
 */
function columns(
  rows: readonly (readonly string[])[],
  above: (index: number) => readonly string[] = () => [],
): string[] {
  const width = Math.max(...rows.map(([left = '']) => left.length))
  const room = 110 - width - 4
  return rows.flatMap(([left = '', right = ''], row) => [
    ...above(row),
    ...wrap(right.trim(), room).map(
      (line, index) => `  ${(index === 0 ? left : '').padEnd(width)}  ${line}`,
    ),
  ])
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length >= width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
