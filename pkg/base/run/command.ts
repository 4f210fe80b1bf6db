import { RegistryError } from '../errors/errors.ts'
import {
  type Command,
  OptionsError,
  type OptionTable,
  type Parsed,
  parseOptions,
  type SecretTable,
} from '../options/options.ts'
import { flushLogs, programVersion } from '../telemetry/telemetry.ts'
import { withSecretSources } from './secret-sources.ts'
import { exitAfterOutput, stdout, watchStdout } from './stdout.ts'

/** Maximum wait of the exit for a slow reader of the output, in milliseconds. */
const flushMs = 1000

/** A command and its work. */
export interface CommandRun<T extends OptionTable, S extends SecretTable> {
  readonly command: Command<T, S>
  /** Arguments after the name of the command. */
  readonly args: readonly string[]
  /**
   * Does the work.
   *
   * @returns text for standard output, or the exit status if it is not 0
   * @throws OptionsError with every mistake, or RegistryError NotConfigured: exit status 2
   */
  readonly main: (
    given: Extract<Parsed<T, S>, { kind: 'options' }>,
  ) => Promise<string | number | undefined> | string | number | undefined
  /** Exit status for mistakes of the command line. Default: 2. */
  readonly mistakeStatus?: number
  /** Finds more mistakes in the readable options of a command line that has some. */
  readonly alsoWrong?: (readable: Readonly<Record<string, unknown>>) => Promise<readonly string[]>
}

/** Runs a command to its end and leaves with its exit status: 0, what `main` returned, or that for bad options. */
export async function runCommand<T extends OptionTable, S extends SecretTable>({
  command,
  args,
  main,
  mistakeStatus = 2,
  alsoWrong,
}: CommandRun<T, S>): Promise<void> {
  let status = 0
  watchStdout()
  try {
    const parsed = parseOptions(command, args, process.env)
    if (parsed.kind === 'help') stdout.write(parsed.text)
    else if (parsed.kind === 'version') stdout.write(`${programVersion}\n`)
    else {
      const result = await main(parsed)
      if (typeof result === 'string') stdout.write(result)
      else status = result ?? 0
    }
  } catch (error) {
    const mistaken = asOptionsError(error)
    const problems = [...mistaken.problems, ...((await alsoWrong?.(mistaken.readable)) ?? [])]
    // The chart sets it, so that mistakes in Secrets can be named.
    const sources = process.env['DEPOT_SECRET_SOURCES']
    const mistakes = problems.map((problem) => `depot: ${withSecretSources(problem, sources)}\n`)
    process.stderr.write(
      `${mistakes.join('')}depot: see ${command.program} --help for all options\n`,
    )
    process.exit(mistakeStatus)
  }
  await flushLogs(flushMs)
  // Work that still runs, such as a list that was being read when a signal came, must not keep the process. Text that was
  // just written to a pipe has to leave first.
  exitAfterOutput(status)
}

/** @throws every error that options cannot correct */
function asOptionsError(error: unknown): OptionsError {
  if (error instanceof OptionsError) return error
  if (error instanceof RegistryError && error.reason === 'NotConfigured') {
    return new OptionsError([error.message])
  }
  throw error
}
