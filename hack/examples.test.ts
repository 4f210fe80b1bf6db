import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type Kind, mistakesIn, parseResource } from '../pkg/api/v1alpha1/v1alpha1.ts'

it.each(globSync('docs/examples/*.yaml'))('%s has no mistakes', (file) => {
  const documents = parseAllDocuments(readFileSync(file, 'utf8'))
  const problems = documents.flatMap((document) => {
    const object = document.toJS() as { kind: Kind }
    const parsed = parseResource(object.kind, object)
    return parsed.ok ? mistakesIn(parsed.resource) : parsed.issues
  })
  expect(problems).toEqual([])
})

it('the first example is the one that the documentation prints', () => {
  const example = readFileSync('docs/examples/first-depot.yaml', 'utf8')
  expect(readFileSync('docs/sync.md', 'utf8')).toContain(example)
})
