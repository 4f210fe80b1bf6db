import packageJson from '../../package.json' with { type: 'json' }
import { OptionsError, parseOptions, serverCommand } from '../../pkg/options/options.ts'
import { limitHeap } from './heap.ts'
import { run } from './run.ts'
import { unusableFiles } from './unusable-files.ts'

limitHeap()

try {
  const parsed = parseOptions(serverCommand, process.argv.slice(2), process.env)
  if (parsed.kind === 'help') process.stdout.write(parsed.text)
  else if (parsed.kind === 'version') process.stdout.write(`${packageJson.version}\n`)
  else {
    await run({ ...parsed, version: packageJson.version })
    // What was still being loaded when the signal came must not keep the process.
    process.exit()
  }
} catch (error) {
  if (!(error instanceof OptionsError)) throw error
  const problems = [...error.problems, ...(await unusableFiles(error.readable))]
  const mistakes = problems.map((problem) => `depot: ${problem}\n`).join('')
  process.stderr.write(`${mistakes}depot: see --help for all options\n`)
  process.exit(2)
}
