import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { expect, it } from 'vitest'

it.each(globSync('pkg/*/README.md').filter((file) => !/explorer|expr/.test(file)))(
  '%s lists the packages of its plane',
  (file) => {
    const packages = globSync(`${dirname(file)}/*/`).map((folder) => basename(folder))
    const rows = [...readFileSync(file, 'utf8').matchAll(/^\| `([\w-]+)` \|/gm)]
    expect(rows.map(([, name = '']) => name).toSorted()).toEqual(packages.toSorted())
  },
)

it('every plane with more than 40 files has a README', () => {
  const large = globSync('pkg/*/').filter((plane) => globSync(`${plane}/**/*.{ts,tsx}`).length > 40)
  expect(large.length).toBeGreaterThan(5)
  expect(large.filter((plane) => !existsSync(`${plane}/README.md`))).toEqual([])
})

it('DESIGN.md is read in ten minutes', () => {
  const wordsPerMinute = 200
  expect(readFileSync('DESIGN.md', 'utf8').split(/\s+/).length).toBeLessThan(10 * wordsPerMinute)
})

it.each(globSync('docs/decisions/[0-9]*.md'))('%s has the usual form, and is listed', (file) => {
  const [title = '', ...lines] = readFileSync(file, 'utf8').split('\n')
  const [, number = '', name = ''] = /^# (\d+)\. (.+)$/.exec(title) ?? []
  expect(basename(file)).toMatch(new RegExp(`^${number.padStart(4, '0')}-`))
  const headings = lines.filter((line) => line.startsWith('## '))
  expect(headings).toEqual(expect.arrayContaining(['## Context', '## Decision', '## Consequences']))
  const index = readFileSync('docs/decisions/README.md', 'utf8')
  expect(index).toContain(`- [${number.padStart(4, '0')} ${name}](${basename(file)})`)
})
