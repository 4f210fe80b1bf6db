import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { reasonTopics } from '../pkg/base/errors/errors.ts'

const table = 'pkg/base/errors/reasons.ts'
const reasons = Object.values(reasonTopics).flatMap((topic) => Object.keys(topic))
const sources = globSync('{pkg,cmd}/**/*.{ts,tsx}')
  .filter((file) => !/\.(test|fixture)\.tsx?$/.test(file) && !file.includes('/dist/'))
  .filter((file) => file !== table)
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }))

it('has each reason once, in PascalCase', () => {
  expect(reasons.filter((reason) => !/^([A-Z][a-z]+)+$/.test(reason))).toEqual([])
  expect(new Set(reasons).size).toBe(reasons.length)
})

it('has no reason that no package uses', () => {
  const used = (reason: string): boolean =>
    sources.some(({ text }) => new RegExp(`'${reason}'|^\\s+${reason}:`, 'm').test(text))
  expect(reasons.filter((reason) => !used(reason))).toEqual([])
})

/** Patterns of code that names the reason of an error, a condition, an event, a log line or a metric. */
const naming = [
  /\breason(?:s)?(?::| =| ===| !==) '(\w+)'/g,
  /\bnew (?:\w+Error|Failure|Refusal|Fault|Outcome)\(\s*'(\w+)',/g,
  /\b(?:mistake|conditionTrue|conditionFalse|undecodable)\(\s*'(\w+)'/g,
]

/** Words of Kubernetes' own Status, and of others, that are compared with. */
const foreign = new Set([
  'Expired',
  'Gone',
  'ResourceVersionTooLarge',
  'check_failed',
  'string',
  'WHY',
])

it.each(sources)('$file names no reason that the table does not have', ({ text }) => {
  const named = naming.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name))
  const known = new Set([...reasons, ...foreign])
  expect(named.filter((name) => !known.has(name ?? ''))).toEqual([])
})

it('says what happened and what to do in each text', () => {
  for (const rows of Object.values(reasonTopics)) {
    for (const [reason, [, text]] of Object.entries(rows)) {
      expect([reason, text]).toEqual([reason, expect.stringMatching(/^[A-Zsv`].*\.$/)])
    }
  }
})
