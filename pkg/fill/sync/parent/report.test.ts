import { expect, it } from 'vitest'
import { reportOf } from './report.ts'

const child = (version: string, status: object) => ({
  version,
  child: {
    kind: 'Version' as const,
    metadata: {
      name: `vpc-${version}`,
      namespace: 'platform',
      uid: version,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: {},
      annotations: {},
      finalizers: [],
      ownerReferences: [],
    },
    spec: {},
    status,
  },
})

const stored = { synced: true, artifact: { fileName: 'vpc.zip' } }
const suspended = { conditions: [{ type: 'Suspended', status: 'True' }] }

it.each([
  ['a version that is not fetched yet', {}, true],
  ['a version that was suspended before it was fetched', suspended, false],
  ['a stored version', stored, false],
])('a report about %s is worth writing once no work is left', (_, status, isProgress) => {
  const children = [child('2.0.0', stored), child('1.0.0', status)]
  const report = reportOf('Module', { desired: 2, children, retained: 0, skipped: [] })
  expect(report.isProgress).toBe(isProgress)
})
