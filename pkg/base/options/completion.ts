import * as z from 'zod'
import { OptionsError } from './options-error.ts'
import { type Command, type Option, type OptionTable, placeholderOf, type Tables } from './table.ts'

/** Completes command lines in a shell. */
export const completionCommand = {
  program: 'depot completion',
  operands: 'bash|zsh|fish',
  summary: 'Prints a script that completes commands, flags and their values in a shell.',
  examples: [
    'source <(depot completion bash)',
    'source <(depot completion zsh)',
    'depot completion fish > ~/.config/fish/completions/depot.fish',
  ],
  options: {},
} satisfies Command<OptionTable>

const shells = { bash, zsh, fish }

/**
 * A script for the shell that the operands name. Values that are not a choice complete as files.
 *
 * @throws OptionsError if they name another one
 */
export function completionScript(operands: readonly string[], commands: readonly Tables[]): string {
  const [shell = '', ...rest] = operands
  if (rest.length === 0 && shell in shells) return shells[shell as keyof typeof shells](commands)
  throw new OptionsError([
    `${JSON.stringify(operands.join(' '))} is not a shell: write bash, zsh or fish`,
  ])
}

function bash(commands: readonly Tables[]): string {
  return `_depot() {
  local words word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}"
  [[ $before == = ]] && before="\${COMP_WORDS[COMP_CWORD - 2]}"
  [[ $word == = ]] && word=
  case "$COMP_CWORD,\${COMP_WORDS[1]},$before,$word" in
${casesOf(commands, 1)
  .map(({ pattern, words }) => `    ${pattern}) words='${words.join(' ')}' ;;`)
  .join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _depot depot
`
}

function zsh(commands: readonly Tables[]): string {
  return `#compdef depot
_depot() {
  local before="\${words[CURRENT - 1]}"
  [[ $PREFIX == --*=* ]] && before="\${PREFIX%%=*}" && compset -P '*='
  case "$CURRENT,\${words[2]},$before,$PREFIX" in
${casesOf(commands, 2)
  .map(({ pattern, words }) => `    ${pattern}) compadd -- ${words.join(' ')} ;;`)
  .join('\n')}
    *) _files ;;
  esac
}
compdef _depot depot
`
}

/** Possible next words, by a pattern of: position, command, previous word, current word. The first match counts. */
function casesOf(commands: readonly Tables[], first: number) {
  const names = commands.map(nameOf)
  return [
    { pattern: `${first},*`, words: ['help', ...names] },
    { pattern: '*,help,*', words: names },
    { pattern: `*,completion,*,[!-]*|*,completion,*,`, words: Object.keys(shells) },
    ...commands.flatMap((command) => {
      const options = Object.values(command.options)
      return [
        ...options.flatMap((option) =>
          choicesOf(option).length === 0
            ? []
            : flagsOf(option).map((flag) => ({
                pattern: `*,${nameOf(command)},${flag},*`,
                words: choicesOf(option),
              })),
        ),
        {
          pattern: `*,${nameOf(command)},*,-*`,
          words: [...options.flatMap(flagsOf), '--help', '--version'],
        },
      ]
    }),
  ]
}

function fish(commands: readonly Tables[]): string {
  const top = "complete -c depot -n '__fish_is_first_arg' -f"
  const lines = commands.flatMap((command) => {
    const within = `complete -c depot -n '__fish_seen_subcommand_from ${nameOf(command)}'`
    return [
      `${top} -a ${nameOf(command)} -d ${quoted(command.summary)}`,
      ...Object.values(command.options).map((option) => {
        const short = option.short === undefined ? '' : ` -s ${option.short}`
        const choices = choicesOf(option)
        const value = placeholderOf(option) === undefined ? '' : ' -r'
        const values = choices.length === 0 ? value : ` -x -a '${choices.join(' ')}'`
        return `${within} -l ${option.flag}${short}${values} -d ${quoted(option.meaning)}`
      }),
    ]
  })
  const shellNames = Object.keys(shells).join(' ')
  return [
    ...lines,
    `${top} -a help -d 'Print the help of a command.'`,
    `complete -c depot -n '__fish_seen_subcommand_from help' -f -a '${commands.map(nameOf).join(' ')}'`,
    `complete -c depot -n '__fish_seen_subcommand_from completion' -f -a '${shellNames}'`,
    '',
  ].join('\n')
}

const nameOf = ({ program }: Tables): string => program.replace(/^depot /, '')

const flagsOf = ({ flag, short }: Option): string[] =>
  short === undefined ? [`--${flag}`] : [`--${flag}`, `-${short}`]

/** The values of an option that is a choice. */
const choicesOf = ({ value }: Option): string[] =>
  value instanceof z.ZodEnum ? value.options.map(String) : []

const quoted = (text: string): string =>
  `'${text.replaceAll('`', '').replaceAll(/[\\']/g, (character) => `\\${character}`)}'`
