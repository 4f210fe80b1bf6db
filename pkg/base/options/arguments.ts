import { parseArgs } from 'node:util'
import { type Option, placeholderOf, type Tables } from './table.ts'
import { unknownFlag } from './unknown-flag.ts'

/** Parsed command line: flags with their text, and mistakes. */
export interface Arguments {
  readonly help: boolean
  readonly version: boolean
  /** Text by flag: `true` for a bare switch, undefined if the value is missing (a problem reports that). */
  readonly texts: ReadonlyMap<string, string | undefined>
  /** Operands, if the command accepts them. */
  readonly operands: readonly string[]
  readonly problems: readonly string[]
}

/**
 * Reads a command line without stopping at the first mistake. A value that starts with a dash must be written as
 * `--flag=-value`, so that a forgotten value never swallows the next flag.
 */
export function readArguments(tables: Tables, argv: readonly string[]): Arguments {
  const options = optionsByFlag(tables)
  const short = flagsByLetter(tables)
  const { tokens } = parseArgs({
    args: argv.map((argument) => spelledOut(argument, short)),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const texts = new Map<string, string | undefined>()
  const problems = new Set<string>()
  const operands: string[] = []
  let help = false
  let version = false
  let owner: Option | undefined

  for (const [position, token] of tokens.entries()) {
    if (token.kind === 'positional') {
      if (tables.operands === undefined) problems.add(strayValue(token.value, owner))
      else operands.push(token.value)
      continue
    }
    owner = undefined
    if (token.kind === 'option-terminator') continue
    const option = token.rawName.startsWith('--') ? options.get(token.name) : undefined
    const next = tokens[position + 1]
    const takesNext =
      token.value === undefined &&
      (option === undefined || placeholderOf(option) !== undefined) &&
      next?.kind === 'positional' &&
      next.index === token.index + 1
    // A command may have versions of its own: only the bare flag asks for that of the program.
    const isBare = option === undefined || (token.value === undefined && !takesNext)
    if (token.rawName === '--help') help = true
    else if (token.rawName === '--version' && isBare) version = true
    else {
      const text = takesNext ? next.value : token.value
      if (takesNext) tokens.splice(position + 1, 1)
      if (option === undefined) {
        problems.add(unknownFlag(tables, argv[token.index] ?? token.rawName))
      } else if (texts.has(option.flag)) {
        problems.add(`--${option.flag} is given more than once: keep one of them`)
      } else if (text === undefined && placeholderOf(option) !== undefined) {
        texts.set(option.flag, undefined)
        problems.add(missingValue(option))
      } else {
        texts.set(option.flag, text ?? 'true')
        if (text === undefined) owner = option
      }
    }
  }
  const isNeeded = tables.operands !== undefined && tables.operandsOptional !== true
  if (isNeeded && operands.length === 0) {
    problems.add(`an argument is missing: write ${tables.program} ${tables.operands}`)
  }
  return { help, version, texts, operands, problems: [...problems] }
}

const optionsByFlag = ({ options }: Tables): ReadonlyMap<string, Option> =>
  new Map(
    Object.values(options).flatMap((option) =>
      [option.flag, option.formerFlag ?? option.flag].map((flag) => [flag, option] as const),
    ),
  )

const flagsByLetter = ({ options }: Tables): ReadonlyMap<string | undefined, string> =>
  new Map(Object.values(options).map(({ short, flag }) => [short, flag]))

/** `-o=json` becomes `--output=json`. */
function spelledOut(argument: string, short: ReadonlyMap<string | undefined, string>): string {
  const { letter, value = '' } = /^-(?<letter>\w)(?<value>=.*)?$/s.exec(argument)?.groups ?? {}
  const flag = { h: 'help', v: 'version' }[letter ?? ''] ?? (letter && short.get(letter))
  return flag ? `--${flag}${value}` : argument
}

function missingValue(option: Option): string {
  return `--${option.flag} has no value: write --${option.flag}=${placeholderOf(option)}`
}

function strayValue(value: string, owner: Option | undefined): string {
  const text = JSON.stringify(value)
  if (owner === undefined) return `${text} belongs to no flag: write --flag=value, or leave it out`
  return `${text} does not belong after --${owner.flag}: write --${owner.flag}, or --${owner.flag}=true or =false`
}
