import { defineConfig } from 'vitest/config'
import { env, reportersOf, withTools } from './vitest.shared.ts'

/** Everything else that needs no Docker: real clusters, object stores, identity providers, browsers and Helm. */
export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts', ...withTools],
    exclude: ['e2e/kind/**', 'e2e/journeys/**'],
    globalSetup: 'e2e/setup.ts',
    setupFiles: 'hack/testbed/patience.ts',
    reporters: reportersOf('integration'),
    // Not more on larger machines: each file may have an API server, a browser or Keycloak in memory.
    maxWorkers: 2,
    env,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
