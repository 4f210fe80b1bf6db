/**
 * Options of the commands: a table for each command, how its flags and environment variables are read, and its help. cmd
 * wires what an option does.
 */

import { readFileSync } from 'node:fs'
import { messageOf } from '../errors/errors.ts'
import { readArguments } from './arguments.ts'
import { OptionsError } from './options-error.ts'
import { usageOf } from './reference.ts'
import {
  type Command,
  type Option,
  type OptionRule,
  type Options,
  type OptionTable,
  otherVariables,
  placeholderOf,
  type RuleInput,
  type Secrets,
  type SecretTable,
  variableOf,
} from './table.ts'

export * from './backup.ts'
export { type CompareCommandOptions, compareCommand } from './compare.ts'
export * from './completion.ts'
export * from './consumers.ts'
export * from './controller.ts'
export * from './docs.ts'
export * from './doctor.ts'
export * from './explain.ts'
export * from './explorer.ts'
export type { FetchingOptions } from './fetching.ts'
export * from './findings.ts'
export * from './hash.ts'
export * from './import.ts'
export * from './keygen.ts'
export * from './lifecycle.ts'
export * from './lint.ts'
export { mistakeIn, OptionsError, requireNone } from './options-error.ts'
export * from './outdated.ts'
export * from './plan.ts'
export * from './policy.ts'
export { logLevels } from './printing.ts'
export * from './publish.ts'
export { flagOf } from './reference.ts'
export * from './scanner.ts'
export * from './server.ts'
export * from './snapshot.ts'
export * from './sync.ts'
export * from './table.ts'
export { closest } from './unknown-flag.ts'
export * from './why.ts'

/** The content of a command line. Secrets are separate from the options, so that options may be logged. */
export type Parsed<T extends OptionTable, S extends SecretTable> =
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'options'
      readonly options: Options<T>
      readonly secrets: Secrets<S>
      /** Arguments that are not flags; empty if the command takes none. */
      readonly operands: readonly string[]
    }

/**
 * Reads the options of a command: the flag, otherwise the environment variable, otherwise the default. An empty variable
 * counts as not set, and variables that belong to no option are left alone: Kubernetes adds some of its own for a
 * Service named depot.
 *
 * @param argv without the program: `process.argv.slice(2)`
 * @throws OptionsError naming every mistake at once
 */
export function parseOptions<T extends OptionTable, S extends SecretTable>(
  command: Command<T, S>,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Parsed<T, S> {
  const { help, version, texts, operands, problems: mistakes } = readArguments(command, argv)
  if (help) return { kind: 'help', text: usageOf(command) }
  if (version) return { kind: 'version' }

  const problems = [...mistakes, ...contradictions(command.options, env)]
  const settings = new Map(
    Object.entries(command.options).map(([key, option]) => [key, findSetting(option, texts, env)]),
  )
  const values: Record<string, unknown> = {}
  for (const [key, { option, text, name }] of settings) {
    const parsed = text === undefined ? undefined : option.value.safeParse(text)
    values[key] = parsed?.data
    for (const { message } of parsed?.error?.issues ?? []) {
      problems.push(`${name}: ${quote(text ?? '')} ${message}`)
    }
  }
  const secrets = readSecrets(command.secrets ?? {}, env)
  problems.push(...secrets.problems, ...brokenRules(command.rules ?? [], settings))
  if (problems.length > 0) throw new OptionsError(problems, { ...values, ...secrets.values })
  return {
    kind: 'options',
    options: values as Options<T>,
    secrets: secrets.values as Secrets<S>,
    operands,
  }
}

/** Origin of the value of an option. */
interface Setting {
  readonly option: Option
  /** False if the default applies. */
  readonly given: boolean
  readonly text: string | undefined
  readonly name: string
}

function findSetting(
  option: Option,
  texts: ReadonlyMap<string, string | undefined>,
  env: Readonly<Record<string, string | undefined>>,
): Setting {
  const flag = `--${option.flag}`
  if (texts.has(option.flag)) {
    return { option, given: true, text: texts.get(option.flag), name: flag }
  }
  const candidates = [variableOf(option), ...otherVariables(option), option.platformVariable ?? '']
  const variable = candidates.find((candidate) => env[candidate])
  if (variable !== undefined) {
    return { option, given: true, text: env[variable], name: `${flag} (set by ${variable})` }
  }
  return {
    option,
    given: false,
    text: option.default,
    name: `${flag} (or ${variableOf(option)})`,
  }
}

/** Reports a variable that is set under two names with different values. */
function contradictions(
  options: OptionTable,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  return Object.values(options).flatMap((option) => {
    const own = env[variableOf(option)]
    return otherVariables(option)
      .filter((other) => own && env[other] && env[other] !== own)
      .map(
        (other) => `--${option.flag}: ${variableOf(option)} and ${other} differ: set one of them`,
      )
  })
}

function brokenRules(
  rules: readonly OptionRule<string>[],
  settings: ReadonlyMap<string, Setting>,
): string[] {
  const facts: RuleInput<string> = {
    given: (key) => {
      const { option, given, text } = settings.get(key) ?? {}
      if (!given || option === undefined) return false
      return placeholderOf(option) !== undefined || option.value.safeParse(text).data === true
    },
    text: (key) => settings.get(key)?.text,
    name: (key) => settings.get(key)?.name ?? key,
  }
  return rules.map((rule) => rule(facts)).filter((problem) => problem !== undefined)
}

/** The text as written, without the credentials of a URL; long texts are cut. */
function quote(text: string): string {
  const shown = text.replace(/\/\/[^/]*@/, '//***@')
  return JSON.stringify(shown.length > 100 ? `${shown.slice(0, 100)}…` : shown)
}

/** Reads each secret from its variable or from the file that `{variable}_FILE` names; one line end is dropped there. */
function readSecrets(
  table: SecretTable,
  env: Readonly<Record<string, string | undefined>>,
): { values: Record<string, string | undefined>; problems: string[] } {
  const values: Record<string, string | undefined> = {}
  const problems: string[] = []
  for (const [key, { variable }] of Object.entries(table)) {
    const fileVariable = `${variable}_FILE`
    const file = env[fileVariable]
    values[key] = env[variable] || undefined
    if (!file) continue
    if (env[variable]) {
      problems.push(`${variable} and ${fileVariable} are both set: keep one of them`)
      continue
    }
    try {
      values[key] = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
      if (values[key] === '') problems.push(`${fileVariable}: ${file} is empty`)
    } catch (thrown) {
      const hint = 'name a file that this user may read'
      problems.push(`${fileVariable} cannot be read: ${messageOf(thrown)}; ${hint}`)
    }
  }
  return { values, problems }
}
