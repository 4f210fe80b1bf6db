import { defineConfig } from 'vitest/config'

/** Real CLIs against real server processes: one after the other, and with time for slow machines. */
export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts'],
    exclude: ['e2e/kind/**'],
    globalSetup: 'e2e/setup.ts',
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
