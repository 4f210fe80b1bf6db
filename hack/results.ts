import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/*
 * Adds up what the suites of a run in CI have written: a line for each suite, then `N passed, N failed` for all of them.
 * `node hack/results.ts FOLDER`, where each suite has left the JSON report of vitest.
 */

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly testResults: readonly {
    readonly status: string
    readonly assertionResults: readonly { readonly status: string }[]
  }[]
}

const [folder = '.depot/results'] = process.argv.slice(2)
const sum = { passed: 0, failed: 0, skipped: 0 }

for (const file of globSync('*.json', { cwd: folder }).toSorted()) {
  const report = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Report
  // A file that could not be loaded has no test that failed.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  const counts = {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests,
  }
  for (const key of ['passed', 'failed', 'skipped'] as const) sum[key] += counts[key]
  console.log(`suite ${basename(file, '.json')}: ${lineOf(counts)}`)
}
console.log(lineOf(sum))

function lineOf({ passed, failed, skipped }: typeof sum): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}
