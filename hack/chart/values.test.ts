import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serverCommand } from '../../pkg/options/options.ts'
import { chart, podsOf, render } from './helm.fixture.ts'
import { profiles } from './profiles.fixture.ts'
import { values } from './values.ts'

const templates = globSync('templates/**/*.{yaml,tpl,txt}', { cwd: chart })
  .map((path) => readFileSync(join(chart, path), 'utf8'))
  .join('\n')

it('every value appears in a template', () => {
  // The controller is a part of its own; its values are there so that they need no change when it comes.
  const later = /^(controller|scanning)\./
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

/** What a pod of the chart has no use for. */
const elsewhere = new Set(['kubeconfig', 'manifests', 'allow-empty-manifests'])

it('every option of the server can be set by a value', () => {
  const renders = [
    profiles['everything'],
    profiles['broker'],
    { server: { anonymousAuth: true } },
    {
      server: { replicaCount: 1 },
      rbac: { scopeToNamespace: true },
    },
  ]
  const given = new Set(
    renders
      .flatMap((profile) => podsOf(render({ ...profile, crds: { install: false } })))
      .filter(({ name }) => name === 'depot-server')
      .flatMap(({ spec }) => spec.containers[0]?.args ?? [])
      .map((argument) => argument.replace(/^--/, '').split('=', 1)[0] ?? ''),
  )
  const flags = Object.values(serverCommand.options).map(({ flag }) => flag)
  expect(flags.filter((flag) => !given.has(flag) && !elsewhere.has(flag))).toEqual([])
})

it('every secret of the server can be set by a value', () => {
  const variables = podsOf(render({ ...profiles['everything'], crds: { install: false } }))
    .filter(({ name }) => name === 'depot-server')
    .flatMap(({ spec }) => spec.containers[0]?.env ?? [])
    .map(({ name }) => name)
  for (const { variable } of Object.values(serverCommand.secrets))
    expect(variables).toContain(variable)
})
