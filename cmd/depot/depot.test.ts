import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bareEnvironment } from '../../hack/testbed/environment.ts'
import { runProgram } from '../../hack/testbed/program/program.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { parseOptions } from '../../pkg/base/options/options.ts'
import { commands } from './depot.ts'

const root = join(import.meta.dirname, '../..')
const depot = (...args: readonly string[]) =>
  spawnSync(join(root, 'depot'), args, {
    encoding: 'utf8',
    env: { ...bareEnvironment, HOME: process.env['HOME'] ?? '' },
    timeout: 60_000,
  })
const run = (...args: readonly string[]) => runProgram(root, args)

it.each([[[]], [['--help']], [['-h']], [['help']]])(
  'lists its commands when it is called with %j',
  async (args) => {
    const { status, stdout } = await run(...args)
    expect(status).toBe(0)
    for (const name of Object.keys(commands)) expect(stdout).toContain(`  ${name} `)
  },
)

it.each(Object.keys(commands))('%s has help with an example, and a version', async (name) => {
  const help = await run('help', name)
  expect(help).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(`Usage: depot ${name} [flags]`),
  })
  expect(help.stdout).toMatch(new RegExp(`^Examples:\\n\\n {2}(source <\\()?depot ${name}`, 'm'))
  expect((await run(name, '-h')).stdout).toBe(help.stdout)
  expect(await run(name, '-v')).toMatchObject({ status: 0, stdout: `${packageJson.version}\n` })
})

it('refuses an unknown command, and suggests a similar one or lists all', async () => {
  expect(await run('help', 'serve')).toMatchObject({
    status: 2,
    stderr: 'depot: there is no command "serve": did you mean depot server?\n',
  })
  const { status, stderr } = await run('nonsense')
  expect(status).toBe(2)
  expect(stderr).toMatch(/^depot: there is no command "nonsense"\n/)
  expect(stderr).toContain('  server ')
})

it.each(
  Object.values(commands).flatMap(({ tables }) =>
    tables.examples.map((line) => [line, tables] as const),
  ),
)('accepts the example %s', (line, tables) => {
  const words = [...line.matchAll(/"[^"]*"|\S+/g)].map(([word]) => word.replaceAll('"', ''))
  const own = words
    .slice(words.indexOf('depot') + 2)
    .filter((word) => !word.startsWith('~/.config'))
  expect(parseOptions({ ...tables, rules: [] }, own, {}).kind).toBe('options')
})

describe('completion', () => {
  /** A developer's machine may lack some of these shells. */
  const shells = (['bash', 'zsh', 'fish'] as const).filter(
    (shell) => process.env['CI'] || spawnSync(shell, ['--version']).status === 0,
  )
  /** Returns the words that a shell offers for a line. The last word may be empty. */
  const offers = {
    bash: (words: readonly string[]) =>
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}; _depot; echo "\${COMPREPLY[@]}"`,
    zsh: (words: readonly string[]) =>
      `words=(${words.map((word) => `'${word}'`).join(' ')}) CURRENT=${words.length} PREFIX='${words.at(-1)}'; _depot`,
    fish: (words: readonly string[]) => `complete -C '${words.join(' ')}' | cut -f1`,
  }
  const zshCompletion = 'compdef() { }; _files() { }; compadd() { print -r -- "$@" }\n'

  it.each(shells)('completes commands, flags and values in %s', (shell) => {
    const script = depot('completion', shell).stdout
    const offered = (...words: readonly string[]) => {
      const before = shell === 'zsh' ? zshCompletion : ''
      const { stdout, error } = spawnSync(
        shell,
        ['-c', `${before}${script}\n${offers[shell](words)}`],
        {
          encoding: 'utf8',
          env: { ...bareEnvironment, HOME: tmpdir() },
        },
      )
      if (error !== undefined) throw error
      return stdout.split(/\s+/)
    }
    expect(offered('depot', '')).toEqual(expect.arrayContaining(Object.keys(commands)))
    expect(offered('depot', 'help', '')).toContain('sync')
    expect(offered('depot', 'completion', '')).toContain('fish')
    expect(offered('depot', 'sync', '--')).toEqual(
      expect.arrayContaining(['--archives', '--log-format']),
    )
    expect(offered('depot', 'sync', '--')).not.toContain('--listen')
    expect(offered('depot', 'lint', '-o', '')).toEqual(expect.arrayContaining(['json', 'sarif']))
    expect(offered('depot', 'lint', '--archives', '')).not.toContain('json')
  })

  it('refuses a shell that it does not know', async () => {
    expect(await run('completion', 'tcsh')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('"tcsh" is not a shell: write bash, zsh or fish'),
    })
  })
})
