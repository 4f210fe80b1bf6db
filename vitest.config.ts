import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { env, longestFirst, reportersOf, withTools } from './vitest.shared.ts'

/** The tests beside the code. */
export default defineConfig({
  test: {
    include: ['{cmd,pkg,hack}/**/*.test.ts'],
    exclude: withTools,
    sequence: longestFirst([
      'pkg/fill/sync/admission.test.ts',
      'pkg/fill/sync/sync.test.ts',
      'pkg/registry/browse/naive.test.ts',
      'pkg/base/serving/listener.test.ts',
      'cmd/publish/publish.test.ts',
      'hack/entered-files.test.ts',
    ]),
    setupFiles: 'hack/testbed/patience.ts',
    reporters: reportersOf('unit'),
    // Files wait for programs, files and timers, so that one more than there are processors keeps them all busy.
    maxWorkers: availableParallelism() + 1,
    env,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
