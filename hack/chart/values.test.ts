import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { controllerCommand, explorerCommand, serverCommand } from '../../pkg/options/options.ts'
import { chart, podsOf, render } from './helm.fixture.ts'
import { profiles } from './profiles.fixture.ts'
import { values } from './values.ts'

const templates = globSync('templates/**/*.{yaml,tpl,txt}', { cwd: chart })
  .map((path) => readFileSync(join(chart, path), 'utf8'))
  .join('\n')

it('every value appears in a template', () => {
  // Scanning is a part that is yet to come; its values are there so that they need no change when it does.
  const later = /^scanning\./
  const unused = values
    .filter(({ name, retired }) => !later.test(name) && !retired)
    .filter(({ name }) => !new RegExp(`\\b${name.split('.').at(-1)}\\b`).test(templates))
  expect(unused.map(({ name }) => name)).toEqual([])
})

it('no value has two rows', () => {
  const names = values.map(({ name }) => name)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

it('every meaning is a sentence', () => {
  const rest = values.filter(({ meaning, retired }) => !retired && !/^[A-Z`].*\.$/.test(meaning))
  expect(rest.map(({ name }) => name)).toEqual([])
})

interface Component {
  readonly name: string
  readonly command: {
    readonly options: Readonly<Record<string, { readonly flag: string }>>
    readonly secrets: Readonly<Record<string, { readonly variable: string }>>
  }
  /** What a pod of the chart has no use for, and what it gets as a variable. */
  readonly elsewhere: readonly string[]
}

const components: readonly Component[] = [
  {
    name: 'depot-server',
    command: serverCommand,
    elsewhere: ['kubeconfig', 'manifests', 'allow-empty-manifests'],
  },
  {
    name: 'depot-controller',
    command: controllerCommand,
    elsewhere: [
      'kubeconfig',
      // Set by extraArgs where they are needed.
      'github-api-url',
      'egress-ca-path',
      'verify-interval',
      'rehash-interval',
      'archive-delete-delay',
      'shutdown-grace-period',
    ],
  },
  {
    name: 'depot-controller',
    command: controllerCommand,
    elsewhere: ['kubeconfig'],
  },
  {
    name: 'depot-ui',
    command: explorerCommand,
    elsewhere: ['base-url', 'session-password-path', 'oidc-client-secret-path'],
  },
]

const containers = [
  profiles['everything'],
  profiles['broker'],
  { server: { anonymousAuth: true } },
  { rbac: { scopeToNamespace: true }, controller: { enabled: true } },
]
  .flatMap((profile) => podsOf(render({ ...profile, crds: { install: false } })))
  .flatMap(({ name, spec }) =>
    spec.containers.slice(0, 1).map((container) => ({ name, container })),
  )

it.each(components)(
  'every option of $name can be set by a value',
  ({ name, command, elsewhere }) => {
    const given = new Set([
      ...elsewhere,
      ...containers
        .filter((of) => of.name === name)
        .flatMap(({ container: { args = [] } }) => args)
        .map((argument) => argument.replace(/^--/, '').split('=', 1)[0] ?? ''),
    ])
    const flags = Object.values(command.options).map(({ flag }) => flag)
    expect(flags.filter((flag) => !given.has(flag))).toEqual([])
  },
)

it.each(components)('every secret of $name can be set by a value', ({ name, command }) => {
  const variables = containers
    .filter((of) => of.name === name)
    .flatMap(({ container: { env = [] } }) => env)
    .map((variable) => variable.name)
  expect(variables).toEqual(
    expect.arrayContaining(Object.values(command.secrets).map(({ variable }) => variable)),
  )
})
