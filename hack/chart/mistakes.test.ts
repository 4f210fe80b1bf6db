import { describe, expect, it } from 'vitest'
import { helms, mistakes, renderText } from './helm.fixture.ts'
import { cases, malformed, oidc } from './mistakes.fixture.ts'
import { profiles } from './profiles.fixture.ts'

describe('values that contradict each other', () => {
  it.each(cases)('%s is refused with a message that says what to do', (_, values, message) => {
    expect(mistakes(values)).toContainEqual(message)
  })

  it('every message is tested', () => {
    const tested = new Set(cases.map(([name]) => name.slice(0, 3)))
    expect([...tested]).toEqual(
      Array.from({ length: 35 }, (_, i) => `V${String(i + 1).padStart(2, '0')}`),
    )
  })

  it.each(malformed)('the schema refuses %j at %s', (values, path) => {
    expect(() => renderText(values)).toThrow(new RegExp(`at '/[^']*${path}'`))
  })

  it.each(helms)('%s says all of them at once, and nothing twice', (helm) => {
    const values = {
      broker: { enabled: true, config: { issuer: 'http://id.example.com' } },
      server: { oidc: { enabled: true, issuerUrl: '%zz' }, useBearerToken: true, replicaCount: 2 },
      ui: { enabled: true },
      valkey: { enabled: false },
    }
    expect(mistakes(values, { helm }).map((line) => line.slice(0, 3))).toEqual([
      'V01',
      'V08',
      'V08',
      'V10',
      'V14',
      'V20',
      'V35',
    ])
  })

  it.each(Object.entries(profiles))('finds none in the profile %s', (_, values) => {
    expect(mistakes(values)).toEqual([])
  })

  it.each([
    'http://127.0.0.1:5556/broker',
    'http://localhost:5556',
    'http://dex.login.svc:5556/dex',
    'http://dex.login.svc.cluster.local/dex',
    'https://id.example.com:8443/realms/x',
  ])('takes the issuer %s', (issuerUrl) => {
    expect(mistakes(oidc({ issuerUrl }))).toEqual([])
  })
})
