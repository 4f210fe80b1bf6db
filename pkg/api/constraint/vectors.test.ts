import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SemVer } from 'semver'
import { expect, it } from 'vitest'
import { parseConstraints } from './constraint.ts'

interface Vector {
  readonly constraint: string
  readonly allows: readonly string[]
  readonly refuses: readonly string[]
}

/** Written by hack/constraint, which asks HashiCorp's library. */
const vectors: readonly Vector[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'testdata/vectors.json'), 'utf8'),
)

it(`lets through what HashiCorp's library lets through, in ${vectors.length} constraints`, () => {
  const differences = vectors.flatMap(({ constraint, allows, refuses }) => {
    const constraints = parseConstraints(constraint)
    const isAllowed = (version: string) => constraints.allows(new SemVer(version))
    return [
      ...allows
        .filter((version) => !isAllowed(version))
        .map((version) => `${constraint} allows ${version}`),
      ...refuses.filter(isAllowed).map((version) => `${constraint} refuses ${version}`),
    ]
  })
  expect(differences).toEqual([])
  expect(vectors.flatMap(({ allows }) => allows).length).toBeGreaterThan(500)
})
