import { totalmem } from 'node:os'
import { defineConfig } from 'vitest/config'
import { env, longestFirst, reportersOf, withTools } from './vitest.shared.ts'

/** Bytes of memory that this process may use, which a container may limit. */
const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity)

/** Everything else that needs no Docker: real clusters, object stores, identity providers, browsers and Helm. */
export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts', ...withTools],
    exclude: ['e2e/kind/**', 'e2e/journeys/**'],
    globalSetup: 'e2e/setup.ts',
    sequence: longestFirst([
      'e2e/sync/reconcilers.test.ts',
      'e2e/browse-schemathesis.test.ts',
      'e2e/publish-direct-kills.test.ts',
      'e2e/explorer/states.test.ts',
      'e2e/explorer/accessibility.test.ts',
      'e2e/publish-http-kills.test.ts',
      'e2e/backup.test.ts',
      'e2e/sync/healing.test.ts',
    ]),
    setupFiles: 'hack/testbed/patience.ts',
    reporters: reportersOf('integration'),
    // Files wait a third of their time: for programs that start, for timeouts and retries. So three keep two processors busy.
    // Not more on larger machines: each file may have an API server, a browser or Keycloak in memory, which takes 2 GiB.
    maxWorkers: memory > 12 * 2 ** 30 ? 3 : 2,
    env,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
