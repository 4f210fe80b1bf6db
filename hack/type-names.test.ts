import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const listed = execFileSync('git', ['ls-files', 'pkg', 'cmd'], { cwd: root, encoding: 'utf8' })
const files = listed
  .split('\n')
  .filter((file) => /\.tsx?$/.test(file) && !/\.(?:test|fixture)\.tsx?$/.test(file))

it('no two files export a type with the same name', () => {
  const declared = new Map<string, string[]>()
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8')
    const names = text.matchAll(/^export (?:abstract )?(?:interface|type|class|enum) (\w+)/gm)
    for (const [, name = ''] of names) {
      declared.set(name, [...(declared.get(name) ?? []), file])
    }
  }
  expect(declared.size).toBeGreaterThan(500)
  expect([...declared].filter(([, places]) => places.length > 1)).toEqual([])
})
