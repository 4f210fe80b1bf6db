import { defineConfig } from 'vitest/config'
import { env, longestFirst, reportersOf, withTools, workers } from './vitest.shared.ts'

/** The tests beside the code. */
export default defineConfig({
  test: {
    include: ['{cmd,pkg,hack}/**/*.test.ts'],
    exclude: withTools,
    sequence: longestFirst([
      'pkg/fill/sync/admission.test.ts',
      'pkg/fill/sync/sync.test.ts',
      'cmd/publish/publish.test.ts',
    ]),
    setupFiles: 'hack/testbed/patience.ts',
    reporters: reportersOf('unit'),
    maxWorkers: workers,
    env,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
