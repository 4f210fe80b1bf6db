import { flagOf, otherVariables, type Tables, variableOf } from '../pkg/base/options/options.ts'

/** A markdown page that lists everything that can be set for a command. */
export function optionsReference(tables: Tables): string {
  const { program, summary, options, secrets = {}, variables = {} } = tables
  const rows = Object.values(options).map((option) => [
    code(flagOf(option)),
    [variableOf(option), ...otherVariables(option)].map(code).join(' or '),
    [
      option.platformVariable && `${code(`$${option.platformVariable}`)}, otherwise`,
      option.default ? code(option.default) : (option.otherwise ?? 'none'),
    ]
      .filter(Boolean)
      .join(' '),
    option.meaning,
  ])
  const secretRows = Object.values(secrets).map(({ variable, meaning }) => [
    code(variable),
    code(`${variable}_FILE`),
    meaning,
  ])
  return [
    `## ${code(program)}`,
    '',
    `${summary} A flag takes precedence over its environment variable. Switches can be written as`,
    '`--flag`, `--flag=true` or `--flag=false`. The command reports all mistakes at once, with exit status 2.',
    '',
    ...markdownTable(['flag', 'environment variable', 'default', 'meaning'], rows),
    '',
    ...(secretRows.length === 0 ? [] : [...secretsTable(secretRows), '']),
    ...(Object.keys(variables).length === 0 ? [] : [...variablesTable(variables), '']),
  ].join('\n')
}

function secretsTable(rows: readonly (readonly string[])[]): string[] {
  return [
    'Secrets come from an environment variable or from a file, never from a flag:',
    '',
    ...markdownTable(
      ['environment variable', 'or the variable with the path of a file', 'meaning'],
      rows,
    ),
  ]
}

function variablesTable(variables: NonNullable<Tables['variables']>): string[] {
  return [
    'Environment variables without a flag:',
    '',
    ...markdownTable(
      ['environment variable', 'meaning'],
      Object.entries(variables).map(([names, meaning]) => [
        names.split(', ').map(code).join(', '),
        meaning,
      ]),
    ),
  ]
}

const code = (text: string): string => `\`${text}\``

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)]
}
