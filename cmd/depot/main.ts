#!/usr/bin/env node
import packageJson from '../../package.json' with { type: 'json' }
import { closest } from '../../pkg/base/options/options.ts'
import { commands, headings } from './depot.ts'

const [first = 'help', ...others] = process.argv.slice(2)
const helpWords = ['help', '--help', '-h']
const versionWords = ['version', '--version', '-v']

const usage = (): string =>
  [
    'Depot: a private registry for Terraform and OpenTofu.',
    '',
    'Usage: depot COMMAND [flags]',
    ...Object.entries(commands).flatMap(([name, { tables }]) => [
      ...(headings[name] === undefined ? [] : ['', `${headings[name]}:`, '']),
      `  ${name.padEnd(11)} ${tables.summary.replace(/(?<=\.) .*/, '')}`,
    ]),
    '',
    'Example: depot server --manifests registry --archives archives --anonymous-auth',
    '',
    'depot help COMMAND lists the flags of a command, depot --version prints the version.',
    '',
  ].join('\n')

// `depot help sync` is `depot sync --help`.
const asksHelp = helpWords.includes(first) && others[0] !== undefined
const [word, args] = asksHelp ? [others[0] ?? '', ['--help']] : [first, others]

if (Object.hasOwn(commands, word)) await commands[word]?.run(args)
else if (helpWords.includes(word)) process.stdout.write(usage())
else if (versionWords.includes(word)) process.stdout.write(`${packageJson.version}\n`)
else {
  // People expect these names for the opposite of yank, deprecate and quarantine.
  const isUndo = /^un(?:yank|deprecate|quarantine|withdraw)$/.test(word)
  const meant = isUndo ? 'activate' : closest(word, Object.keys(commands))
  const hint = meant === undefined ? `\n\n${usage()}` : `: did you mean depot ${meant}?\n`
  process.stderr.write(`depot: there is no command ${JSON.stringify(word)}${hint}`)
  process.exitCode = 2
}
