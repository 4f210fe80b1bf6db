import { expect, it } from 'vitest'
import {
  controllerCommand,
  explorerCommand,
  scannerCommand,
  serverCommand,
} from '../../pkg/base/options/options.ts'
import { effective } from './effects.fixture.ts'
import { podsOf, render, type Values } from './helm.fixture.ts'
import { profiles } from './profiles.fixture.ts'
import { text } from './value.ts'
import { values } from './values.ts'

const withoutDefinitions = { crds: { install: false } }
const hosts = ['depot.example.com']

/** Base values with which a value may have an effect. The first one is enough for most values. */
const bases: readonly Values[] = [
  { ...profiles['everything'], ...withoutDefinitions },
  {
    server: {
      service: { type: 'NodePort' },
      ingress: { enabled: true, hosts: [{ host: 'depot.example.com' }] },
      route: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: hosts },
      stats: { persistence: { enabled: true } },
      podDisruptionBudget: { enabled: true },
    },
    broker: { enabled: true },
    scanning: { enabled: true },
    valkey: { enabled: false },
  },
  {
    ...withoutDefinitions,
    server: { service: { type: 'LoadBalancer' } },
    ui: { enabled: true, sessionPasswordSecretName: 's', service: { type: 'NodePort' } },
    monitoring: { prometheusRule: { enabled: true }, podMonitor: { enabled: true } },
  },
]

it('every value changes the rendered chart', () => {
  const without: Readonly<Record<string, string>> = {
    'valkey.replicaCount': 'there for a message: the bundled Valkey runs one pod (V22)',
  }
  const asked = values.filter(({ retired }) => !retired)
  const rest = bases.reduce((left, base) => {
    const found = effective(left, base)
    return left.filter(({ name }) => !found.has(name))
  }, asked)
  expect(rest.map(({ name }) => name)).toEqual(Object.keys(without))
})

it('reports a value that no template uses', () => {
  const unknown = text('server.unheardOf', '', 'Nothing.')
  const known = text('server.priorityClassName', '', 'Priority class.')
  expect([...effective([unknown, known], withoutDefinitions)]).toEqual(['server.priorityClassName'])
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
  /** Options that a pod of the chart does not use, or gets as a variable. */
  readonly elsewhere: readonly string[]
}

const components: readonly Component[] = [
  {
    name: 'depot-server',
    command: serverCommand,
    elsewhere: ['kubeconfig', 'manifests', 'allow-empty-manifests', 'log-format'],
  },
  {
    name: 'depot-controller',
    command: controllerCommand,
    elsewhere: ['kubeconfig', 'log-format'],
  },
  {
    name: 'depot-scanning',
    command: scannerCommand,
    // The chart mounts the defaults of these, and runs Trivy.
    elsewhere: [
      'admin-listen',
      'kubeconfig',
      'log-format',
      'manifests',
      'output',
      'scanner',
      'scanner-command',
      'shutdown-grace-period',
      'work-dir',
    ],
  },
  {
    name: 'depot-ui',
    command: explorerCommand,
    elsewhere: ['base-url', 'session-password-path', 'oidc-client-secret-path', 'log-format'],
  },
]

const containers = [
  profiles['everything'],
  profiles['broker'],
  { server: { anonymousAuth: true } },
  { rbac: { scopeToNamespace: true }, scanning: { enabled: true } },
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
