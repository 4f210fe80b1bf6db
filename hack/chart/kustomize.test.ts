import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { findForTests } from '../testbed/tools.ts'
import { objectsOf } from './helm.fixture.ts'
import { kustomizeFiles, staleManifests } from './kustomize.ts'
import { conformance } from './schemas/conform.fixture.ts'

it('is up to date (make generate)', () => {
  expect(staleManifests()).toEqual([])
})

it('is valid for Kubernetes and has no labels of Helm', () => {
  const schemas = conformance()
  const files = [...kustomizeFiles()].filter(
    ([path]) => path.endsWith('.yaml') && !path.endsWith('kustomization.yaml'),
  )
  const text = files.map(([, content]) => content).join('---\n')
  expect(schemas.check(text)).toEqual([])
  expect(text).not.toMatch(/helm\.sh|managed-by/)
  schemas.dispose()
})

const kubectl = findForTests('kubectl', () => execFileSync('kubectl', ['version', '--client']))

it.skipIf(kubectl === undefined)('kubectl kustomize renders all of it', () => {
  const built = execFileSync('kubectl', ['kustomize', 'config/default'], { encoding: 'utf8' })
  const names = objectsOf(built).map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  expect(names).toContain('Namespace depot-system')
  expect(names).toContain('Deployment depot-server')
  expect(names).toContain('StatefulSet depot-valkey')
  expect(names).toContain('CustomResourceDefinition versions.depot.internal')
  expect(new Set(names).size).toBe(names.length)
})
