import packageJson from '../../package.json' with { type: 'json' }
import { limitHeap } from '../../pkg/memory/memory.ts'
import {
  explainCommand,
  OptionsError,
  parseOptions,
  serverCommand,
} from '../../pkg/options/options.ts'
import { standardOutput } from '../../pkg/telemetry/telemetry.ts'
import { explain } from './explain.ts'
import { run } from './run.ts'
import { unusableFiles } from './unusable-files.ts'

/** How long the end waits for a slow reader of the log. */
const flushMs = 1000

limitHeap()

const [word, ...rest] = process.argv.slice(2)

try {
  if (word === 'explain') await runExplain(rest)
  else await runServer(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof OptionsError)) throw error
  const problems = [...error.problems, ...(await unusableFiles(error.readable))]
  const mistakes = problems.map((problem) => `depot: ${problem}\n`).join('')
  process.stderr.write(`${mistakes}depot: see --help for all options\n`)
  process.exit(2)
}

async function runServer(args: readonly string[]): Promise<void> {
  const parsed = parseOptions(serverCommand, args, process.env)
  if (parsed.kind === 'options') {
    await run({ ...parsed, version: packageJson.version })
    await standardOutput().flush(flushMs)
    // What was still being loaded when the signal came must not keep the process.
    process.exit()
  }
  process.stdout.write(parsed.kind === 'help' ? parsed.text : `${packageJson.version}\n`)
}

async function runExplain(args: readonly string[]): Promise<void> {
  const parsed = parseOptions(explainCommand, args, process.env)
  if (parsed.kind === 'options') process.stdout.write(await explain(parsed.options))
  else process.stdout.write(parsed.kind === 'help' ? parsed.text : `${packageJson.version}\n`)
}
