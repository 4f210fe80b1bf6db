import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Real CLIs against real server processes: one after the other, and with time for slow machines. */
export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts'],
    exclude: ['e2e/kind/**'],
    globalSetup: 'e2e/setup.ts',
    setupFiles: 'hack/testbed/patience.ts',
    fileParallelism: false,
    // Programs that tests start are compiled once: they start in 0.4 s of processor time where it was 1.0 s.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, '.depot/compile-cache') },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
