import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/**
 * In a cluster, ages count by the clock of the API server, which wrote the times that they are compared with. Entry points pass
 * it on; a part that reads the clock of its machine mixes two.
 */
const mayRead: Readonly<Record<string, string>> = {
  'egress/open.ts': 'a default, for programs without a cluster',
  'fetching/fetching.ts': 'a default, for programs without a cluster',
  'lint/accepted.ts': 'checks files of this machine',
  'planning/planning.ts': 'a default, for programs without a cluster',
  'sources/open.ts': 'a default, for programs without a cluster',
  'sync/sync.ts': 'a default, for programs without a cluster',
  'queue/queue.ts': 'shows a time to the person at this machine',
}

const reading = /\bDate\.now\b|\bnew Date\(\)/

it('reads the clock of its machine in few places', () => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname })
  const own = files.filter((file) => !/\.(?:test|fixture)\.ts$/.test(file))
  expect(own.length).toBeGreaterThan(100)
  const codeOf = (file: string) =>
    readFileSync(`${import.meta.dirname}/${file}`, 'utf8').replaceAll(
      /\/\*.*?\*\/|\/\/[^\n]*/gs,
      '',
    )
  expect(own.filter((file) => reading.test(codeOf(file))).toSorted()).toEqual(
    Object.keys(mayRead).toSorted(),
  )
})
