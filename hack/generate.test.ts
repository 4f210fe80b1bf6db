import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { generatedFiles, staleFiles } from './generate.ts'

it('generated files are up to date (make generate)', () => {
  expect(staleFiles()).toEqual([])
})

it('lists every definition for kustomize', () => {
  const files = generatedFiles()
  const { resources } = parse(files.get('config/crd/kustomization.yaml') ?? '')
  const bases = [...files.keys()].filter((path) => path.startsWith('config/crd/bases/'))
  expect(resources.map((path: string) => `config/crd/${path}`)).toEqual(bases.toSorted())
})

it.each([...generatedFiles()].filter(([path]) => path.endsWith('.yaml')))(
  'writes %s without anchors, which kubectl users find hard to read',
  (_, content) => {
    expect(content).not.toMatch(/(?:: |- )[&*]\w/)
  },
)
