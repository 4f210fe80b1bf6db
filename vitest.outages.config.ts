import { defineConfig } from 'vitest/config'
import { reportersOf } from './vitest.shared.ts'

/** Outages that last for minutes: on a cluster of three nodes, which the Makefile asks for. */
export default defineConfig({
  test: {
    include: ['e2e/kind/outages/*.test.ts'],
    globalSetup: 'e2e/kind/setup.ts',
    reporters: reportersOf('outages'),
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 250 } },
  },
})
