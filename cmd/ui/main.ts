import packageJson from '../../package.json' with { type: 'json' }
import { explorerCommand, OptionsError, parseOptions } from '../../pkg/options/options.ts'
import { standardOutput } from '../../pkg/telemetry/telemetry.ts'
import { run } from './run.ts'

/** How long the end waits for a slow reader of the log. */
const flushMs = 1000

try {
  const parsed = parseOptions(explorerCommand, process.argv.slice(2), process.env)
  if (parsed.kind === 'options') {
    await run({ ...parsed, version: packageJson.version })
    await standardOutput().flush(flushMs)
    process.exit()
  }
  process.stdout.write(parsed.kind === 'help' ? parsed.text : `${packageJson.version}\n`)
} catch (error) {
  if (!(error instanceof OptionsError)) throw error
  const mistakes = error.problems.map((problem) => `depot: ${problem}\n`).join('')
  process.stderr.write(`${mistakes}depot: see --help for all options\n`)
  process.exit(2)
}
