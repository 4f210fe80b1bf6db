#!/usr/bin/env node
import packageJson from '../../package.json' with { type: 'json' }
import { commands } from './depot.ts'

const [word = '--help', ...args] = process.argv.slice(2)

const usage = (): string =>
  [
    'Depot: a private registry for Terraform and OpenTofu.',
    '',
    'Usage: depot COMMAND [flags]',
    '',
    ...Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`),
    '',
    'depot COMMAND --help lists the flags of a command.',
    '',
  ].join('\n')

const command = Object.hasOwn(commands, word) ? commands[word] : undefined
if (command !== undefined) await command.run(args)
else if (word === '--help' || word === 'help') process.stdout.write(usage())
else if (word === '--version' || word === 'version') {
  process.stdout.write(`${packageJson.version}\n`)
} else {
  process.stderr.write(`depot: there is no command ${JSON.stringify(word)}\n\n${usage()}`)
  process.exitCode = 2
}
