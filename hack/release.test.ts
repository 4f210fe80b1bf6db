import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toolPath } from './testbed/tools.ts'

const repository = join(import.meta.dirname, '..')
const workflows = globSync(join(repository, '.github/workflows/*.yml'))

it('actionlint accepts every workflow', () => {
  expect(workflows).not.toEqual([])
  const flags = ['-shellcheck=', '-pyflakes=']
  execFileSync(toolPath('actionlint'), [...flags, ...workflows], { encoding: 'utf8' })
})

it('hadolint accepts the Dockerfile, and refuses a tag that can change', () => {
  const hadolint = toolPath('hadolint')
  execFileSync(hadolint, [join(repository, 'Dockerfile')], { encoding: 'utf8' })
  const moving = spawnSync(hadolint, ['-'], { input: 'FROM debian\n', encoding: 'utf8' })
  expect(moving.stdout).toContain('DL3006')
})

it('actions are pinned by commit, and the bases of the image by digest', () => {
  for (const file of workflows) {
    for (const [, action] of readFileSync(file, 'utf8').matchAll(/uses: (\S+)/g))
      expect(action).toMatch(/@[0-9a-f]{40}$/)
  }
  const dockerfile = readFileSync(join(repository, 'Dockerfile'), 'utf8')
  const bases = [...dockerfile.matchAll(/^ARG \w+_BASE=(\S+)/gm)].map(([, base]) => base)
  expect(bases).toHaveLength(2)
  for (const base of bases) expect(base).toMatch(/@sha256:[0-9a-f]{64}$/)
})
