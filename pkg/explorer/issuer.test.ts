import { expect, it } from 'vitest'
import { createLogger } from '../base/telemetry/telemetry.ts'
import { Issuer } from './issuer.ts'

it('waits longer after each failure to read the issuer', async () => {
  const waitsMs: unknown[] = []
  const issuer = new Issuer({
    oidc: {
      issuerUrl: 'https://issuer.test',
      clientId: 'depot',
      scopes: 'openid',
      callbackPath: '/auth/callback',
    },
    fetch: () => Promise.reject(new TypeError('nobody answers')),
    log: createLogger('warn', {
      write: (line) => waitsMs.push((JSON.parse(line) as { retryMs: unknown }).retryMs),
    }),
    random: () => 0,
  })
  for (let failures = 0; failures < 8; failures += 1) {
    await expect(issuer.configuration()).rejects.toThrow('nobody answers')
  }
  expect(waitsMs).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000])
  issuer.stop()
})
