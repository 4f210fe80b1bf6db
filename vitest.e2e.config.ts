import { defineConfig } from 'vitest/config'
import { reportersOf } from './vitest.shared.ts'

/** The chart in a kind cluster: one release at a time, in one cluster for all files. */
export default defineConfig({
  test: {
    include: ['e2e/kind/*.test.ts'],
    globalSetup: 'e2e/kind/setup.ts',
    reporters: reportersOf('e2e'),
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 250 } },
  },
})
