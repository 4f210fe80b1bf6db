import { defineConfig } from 'vitest/config'
import { env, reportersOf, workers } from './vitest.shared.ts'

/** Terraform and OpenTofu, those that this machine has, against a real server. */
export default defineConfig({
  test: {
    include: ['e2e/journeys/*.test.ts'],
    globalSetup: 'e2e/journeys/setup.ts',
    setupFiles: 'hack/testbed/patience.ts',
    reporters: reportersOf('journeys'),
    maxWorkers: workers,
    env,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
