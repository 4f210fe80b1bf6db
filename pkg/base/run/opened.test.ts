import { expect, it } from 'vitest'
import { createLogger } from '../telemetry/telemetry.ts'
import { opened, run } from './run.ts'

const log = createLogger('silent')

it('opens a part at its start and closes what was opened at its end', async () => {
  const closed: string[] = []
  const part = opened(
    'file',
    () => Promise.resolve('open file'),
    (file, graceMs) => void closed.push(`${file} ${graceMs}`),
  )
  expect(() => part.part).toThrow('file is not open')
  const stop = new AbortController()
  const groups = [[part], [{ name: 'end', start: () => stop.abort() }]]
  await run({ groups, log, graceMs: 5, until: stop.signal })
  expect([part.part, closed]).toEqual(['open file', ['open file 5']])
})

it('closes what was opened when another part cannot start', async () => {
  const closed: string[] = []
  const part = opened(
    'file',
    () => 'open file',
    (file) => void closed.push(file),
  )
  const failing = { name: 'port', start: () => Promise.reject(new Error('port in use')) }
  await expect(run({ groups: [[part], [failing]], log, graceMs: 5 })).rejects.toThrow('port in use')
  expect(closed).toEqual(['open file'])
})

it('closes nothing that was never opened', async () => {
  const part = opened(
    'file',
    () => Promise.reject(new Error('disk full')),
    () => undefined,
  )
  await expect(run({ groups: [[part]], log, graceMs: 5 })).rejects.toThrow('disk full')
  await expect(Promise.resolve(part.stop?.(0))).resolves.toBeUndefined()
})
