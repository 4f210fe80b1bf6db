import { defineConfig } from 'vitest/config'
import { env, reportersOf, withTools, workers } from './vitest.shared.ts'

/** The tests beside the code. */
export default defineConfig({
  test: {
    include: ['{cmd,pkg,hack}/**/*.test.ts'],
    exclude: withTools,
    setupFiles: 'hack/testbed/patience.ts',
    reporters: reportersOf('unit'),
    maxWorkers: workers,
    env,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
