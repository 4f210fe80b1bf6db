import { expect, it } from 'vitest'
import { storedVersion } from '../../../records/store/stored-object.fixture.ts'
import { reportOf } from './report.ts'

const child = (version: string, status: object) => ({
  version,
  child: storedVersion({ name: `vpc-${version}`, namespace: 'platform', uid: version }, { status }),
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

const failedWith = (reason: string, state: 'Stalled' | 'Reconciling') => ({
  conditions: [
    { type: 'Ready', status: 'False', reason, message: 'the archive is damaged' },
    { type: state, status: 'True', reason, message: 'the archive is damaged' },
  ],
})

const stalled = ['Unsigned', undefined]
const tried = [undefined, 'Progressing']

it.each([
  ['every version is stored or stalled', [stored, failedWith('Unsigned', 'Stalled')], stalled],
  ['every version is stalled', [failedWith('Unsigned', 'Stalled')], stalled],
  ['a version is stalled and one is being fetched', [failedWith('Unsigned', 'Stalled'), {}], tried],
  [
    'a version is stalled and one is tried again',
    [failedWith('Unsigned', 'Stalled'), failedWith('FetchFailed', 'Reconciling')],
    tried,
  ],
])('where %s, tools that wait see failure or progress', (_, statuses, expected) => {
  const children = statuses.map((status, index) => child(`${index}.0.0`, status))
  const desired = children.length
  const { conditions } = reportOf('Module', { desired, children, retained: 0, skipped: [] })
  expect(conditions.Ready?.status).toBe('False')
  expect([conditions.Stalled?.reason, conditions.Reconciling?.reason]).toEqual(expected)
})
