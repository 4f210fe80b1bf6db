import { expect, it } from 'vitest'
import { effectiveLifecycle, type LifecycleFacts } from './lifecycle.ts'

const deprecated = { state: 'Deprecated', message: 'old' } as const
const yanked = { state: 'Yanked', message: 'broken', replacedBy: '1.2.4' } as const
const quarantined = { state: 'Quarantined', message: 'steals keys' } as const
const scan = { by: 'ScanPolicy', message: 'CVE-2026-1' } as const
const policy = { by: 'UpstreamPolicy', message: 'denied' } as const

it.each<[string, LifecycleFacts, ReturnType<typeof effectiveLifecycle>]>([
  ['active without facts', {}, undefined],
  ['active with empty lists', { rules: [], quarantinedBy: [] }, undefined],
  ['that of its spec', { own: deprecated }, deprecated],
  ['that of its spec rather than of a rule', { own: deprecated, rules: [yanked] }, deprecated],
  ['active if its spec says so', { own: { state: 'Active' }, rules: [yanked] }, undefined],
  ['that of the first rule', { rules: [yanked, deprecated] }, yanked],
  ['quarantined by its spec', { own: quarantined, rules: [deprecated] }, quarantined],
  ['quarantined by a rule', { own: { state: 'Active' }, rules: [quarantined] }, quarantined],
  ['quarantined by a later rule', { rules: [deprecated, quarantined] }, quarantined],
  [
    'quarantined by a policy, whatever its spec says',
    { own: { state: 'Active' }, rules: [deprecated], quarantinedBy: [scan] },
    { state: 'Quarantined', message: 'ScanPolicy: CVE-2026-1' },
  ],
  [
    'quarantined with the messages of all policies',
    { quarantinedBy: [scan, policy] },
    { state: 'Quarantined', message: 'ScanPolicy: CVE-2026-1; UpstreamPolicy: denied' },
  ],
  ['that of a person before a policy', { own: quarantined, quarantinedBy: [scan] }, quarantined],
])('is %s', (_, facts, expected) => {
  expect(effectiveLifecycle(facts)).toEqual(expected)
})
