import type { z } from 'zod'

/** One option: a flag, an environment variable, a default and a line of the reference. */
export interface Option {
  /** Without dashes. `DEPOT_` and the name in capitals, `-` as `_`, is the environment variable. @see flagged */
  readonly flag: string
  /** One letter, for the few options that have one. */
  readonly short?: string
  /** An earlier name. It and its variable keep working. */
  readonly formerFlag?: string
  /** Parses the text. Its `title` is the placeholder of the value in the usage; without one, the flag is a switch. */
  readonly value: z.ZodType<unknown, string>
  /** Text, as it is written after the flag. */
  readonly default?: string
  /** The environment variable, if the one of the flag means something else to people. */
  readonly variable?: string
  /** Another name of the environment variable; the two must not differ. */
  readonly alias?: string
  /** A variable of the platform, such as `POD_NAMESPACE`, that comes before the default. */
  readonly platformVariable?: string
  /** Behaviour without a value and without a default. */
  readonly otherwise?: string
  readonly meaning: string
}

/** The option of each key of the result. */
export type OptionTable = Readonly<Record<string, Option>>

type Row = Omit<Option, 'flag'> & Partial<Pick<Option, 'flag'>>

/** Gives each option the flag of its key. Units are not part of flags: `spoolSizeBytes` is `--spool-size`. */
export function flagged<T extends Readonly<Record<string, Row>>>(rows: T) {
  const flagOf = (key: string) =>
    key.replace(/(?:Bytes|Ms)$/, '').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const options = Object.entries(rows).map(([key, row]) => [key, { flag: flagOf(key), ...row }])
  return Object.fromEntries(options) as { readonly [K in keyof T]: T[K] & Pick<Option, 'flag'> }
}

/** A value that must not be on a command line: read from `variable`, or from the file that `{variable}_FILE` names. */
interface Secret {
  readonly variable: string
  readonly meaning: string
}

export type SecretTable = Readonly<Record<string, Secret>>

/** Environment variables without a flag, with their meaning. */
export type VariableTable = Readonly<Record<string, string>>

/** Everything that can be set for one command, for the usage and the reference. */
export interface Tables<T extends OptionTable = OptionTable, S extends SecretTable = SecretTable> {
  /** How the command is started, such as `depot server`. */
  readonly program: string
  readonly summary: string
  /** Placeholder of operands, such as `PATH…`; undefined if there are none. */
  readonly operands?: string
  /** Whether the operands are optional. */
  readonly operandsOptional?: boolean
  /** Command lines that work as written, the most useful first. */
  readonly examples: readonly string[]
  readonly options: T
  /** Headings of the usage, each before the option of its key. */
  readonly groups?: Readonly<Partial<Record<keyof T & string, string>>>
  readonly secrets?: S
  readonly variables?: VariableTable
}

/** A command, with rules for combinations of its options. */
export interface Command<T extends OptionTable, S extends SecretTable = SecretTable>
  extends Tables<T, S> {
  readonly rules?: readonly OptionRule<keyof T & string>[]
}

/** The values of a table, parsed. Undefined only if an option without default is not set. */
export type Options<T extends OptionTable> = {
  readonly [K in keyof T]:
    | z.output<T[K]['value']>
    | (T[K] extends { readonly default: string } ? never : undefined)
}

export type Secrets<S extends SecretTable> = { readonly [K in keyof S]: string | undefined }

/** Input of a rule. */
export interface RuleInput<K extends string> {
  /** Whether the option was set; a switch that is off counts as not set. */
  readonly given: (key: K) => boolean
  /** The text of the option, its default included. */
  readonly text: (key: K) => string | undefined
  /** The flag, and the variable if the value came from it. */
  readonly name: (key: K) => string
}

/** Finds a mistake in a combination of options; the text names the correction. */
export type OptionRule<K extends string> = (facts: RuleInput<K>) => string | undefined

export function variableOf({ flag, variable }: Pick<Option, 'flag' | 'variable'>): string {
  return variable ?? `DEPOT_${flag.replaceAll('-', '_').toUpperCase()}`
}

/** Other names of the variable. */
export function otherVariables({ alias, formerFlag }: Option): string[] {
  const former = formerFlag === undefined ? undefined : variableOf({ flag: formerFlag })
  return [alias, former].filter((name) => name !== undefined)
}

/** Placeholder of the value in the usage; undefined for a switch. */
export function placeholderOf(option: Option): string | undefined {
  return option.value.meta()?.title
}
