import './heap-limits.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { OptionsError, parseOptions, serverCommand } from '../../pkg/options/options.ts'
import { run } from './run.ts'


try {
  const parsed = parseOptions(serverCommand, process.argv.slice(2), process.env)
  if (parsed.kind === 'help') process.stdout.write(parsed.text)
  else if (parsed.kind === 'version') process.stdout.write(`${packageJson.version}\n`)
  else await run({ ...parsed, version: packageJson.version })
} catch (error) {
  if (!(error instanceof OptionsError)) throw error
  const mistakes = error.problems.map((problem) => `depot: ${problem}\n`).join('')
  process.stderr.write(`${mistakes}depot: see --help for all options\n`)
  process.exitCode = 2
}
