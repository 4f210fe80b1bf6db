import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { EventRecorder } from './events.ts'
import { storedVersion } from './stored-object.fixture.ts'

const object = storedVersion()

it('writes events that are recorded while it closes', async () => {
  const written: string[] = []
  const recorder = new EventRecorder({
    client: {
      create: async ({ note, metadata }) => {
        written.push(String(note))
        await setImmediate()
        return { kind: 'Event', metadata: { ...object.metadata, ...metadata } }
      },
    },
    apiVersion: 'depot.internal/v1alpha1',
    instance: 'test',
    log: createLogger('silent'),
    clock: Date.now,
  })
  const record = (note: string) =>
    recorder.record({ object, type: 'Normal', reason: 'Synced', note })
  record('before')
  const closed = recorder.close()
  record('meanwhile')
  await closed
  expect(written).toEqual(['before', 'meanwhile'])
})
