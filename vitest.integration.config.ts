import { totalmem } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { env, reportersOf, withTools } from './vitest.shared.ts'

/** The files that take longest. At the end they would keep one worker busy while the others have nothing left to do. */
const longest = [
  'e2e/sync/reconcilers.test.ts',
  'e2e/browse-schemathesis.test.ts',
  'e2e/publish-direct-kills.test.ts',
  'e2e/explorer/states.test.ts',
  'e2e/explorer/accessibility.test.ts',
  'e2e/publish-http-kills.test.ts',
  'e2e/backup.test.ts',
  'e2e/sync/healing.test.ts',
]

/** Begins with the longest files; in a fresh checkout, vitest begins with those that have the most text. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      longest.some((file) => moduleId.endsWith(file))
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of the sequencer
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

/** Everything else that needs no Docker: real clusters, object stores, identity providers, browsers and Helm. */
export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts', ...withTools],
    exclude: ['e2e/kind/**', 'e2e/journeys/**'],
    globalSetup: 'e2e/setup.ts',
    sequence: { sequencer: LongestFirst },
    setupFiles: 'hack/testbed/patience.ts',
    reporters: reportersOf('integration'),
    // Files wait a third of their time: for programs that start, for timeouts and retries. So three keep two processors busy.
    // Not more on larger machines: each file may have an API server, a browser or Keycloak in memory, which takes 2 GiB.
    maxWorkers: totalmem() > 12 * 2 ** 30 ? 3 : 2,
    env,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
